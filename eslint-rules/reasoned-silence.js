/** Functions that throw for a text that they cannot read, and for nothing else. */
const parsers = /^(JSON\.parse|(de|en)codeURI(Component)?|parseDeviceAddress)$/

/**
 * Errors that nobody sees need a comment that says why, on the same line, the one above or inside: an empty `catch` block, and a `.catch` that does nothing while its result is dropped.
 * With the option `results`, also every `catch` that does not look at the error, and every `.catch` whose function takes none, although its result is used. Throwing another error is
 * seen, and so is the result of a `try` that parses a text: it says that the text cannot be read.
 */
export const reasonedSilence = {
  meta: {
    type: 'problem',
    schema: [{ enum: ['results'] }],
    docs: { description: 'let an ignored error carry its reason' },
  },
  create(context) {
    const { sourceCode } = context
    const judgesResults = context.options[0] === 'results'
    const lines = new Set(
      sourceCode.getAllComments().flatMap(({ loc }) => [loc.start.line, loc.end.line, loc.end.line + 1]),
    )
    const hasReason = (node, at = node) =>
      sourceCode.getCommentsInside(node).length > 0 || lines.has(node.loc.start.line) || lines.has(at.loc.start.line)
    /** All nodes in and below one, which fulfil a condition. */
    const within = (node, fits) => {
      const below = (sourceCode.visitorKeys[node.type] ?? []).flatMap((key) => node[key] ?? [])
      return [...(fits(node) ? [node] : []), ...below.flatMap((child) => within(child, fits))]
    }
    const throws = (node) => within(node, ({ type }) => type === 'ThrowStatement').length > 0
    const parses = (block) => {
      const calls = within(block, ({ type }) => /^(Await|Call)Expression$/.test(type))
      const names = calls.map(({ callee }) => (callee === undefined ? 'await' : sourceCode.getText(callee)))
      return names.some((name) => parsers.test(name)) && !names.some((name) => /^await$|Sync$/.test(name))
    }
    const isSeen = (node) => judgesResults && throws(node)
    /** A function that does nothing with an error; its result counts with the option only. */
    const ignores = ({ type, params, body }) => {
      if (!/^(Arrow)?FunctionExpression$/.test(type) || params.length > 0) return false
      return judgesResults || (body.type === 'BlockStatement' ? body.body.length === 0 : body.name === 'undefined')
    }
    /** The value is awaited or discarded, and nothing reads it. */
    const isDropped = (node) => {
      let outer = node
      while (/^(AwaitExpression|ChainExpression|UnaryExpression)$/.test(outer.parent.type)) outer = outer.parent
      if (outer.type === 'UnaryExpression' && outer.operator === 'void') return true
      return outer.parent.type === 'ExpressionStatement'
    }
    const message = 'An error is ignored: handle or log it, or say in a comment why nobody needs it.'
    return {
      CatchClause(node) {
        const ignored = judgesResults ? node.param === null && !parses(node.parent.block) : node.body.body.length === 0
        if (ignored && !isSeen(node.body) && !hasReason(node)) context.report({ node, message })
      },
      CallExpression(node) {
        const { callee, arguments: given } = node
        if (callee.type !== 'MemberExpression' || callee.property.name !== 'catch' || given.length !== 1) return
        if (!ignores(given[0]) || isSeen(given[0]) || !(judgesResults || isDropped(node))) return
        if (!hasReason(node, callee.property)) context.report({ node: callee.property, message })
      },
    }
  },
}
