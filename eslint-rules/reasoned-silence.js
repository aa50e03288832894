/**
 * Errors that nobody sees need a comment that says why, on the same line or the one above: an empty `catch` block, and a `.catch` that does nothing while its result is dropped. A
 * result that is used hands `undefined` to its reader, who has to handle it.
 */
export const reasonedSilence = {
  meta: { type: 'problem', schema: [], docs: { description: 'let an ignored error carry its reason' } },
  create(context) {
    const { sourceCode } = context
    const lines = new Set(
      sourceCode.getAllComments().flatMap(({ loc }) => [loc.start.line, loc.end.line, loc.end.line + 1]),
    )
    const hasReason = (node, at = node) =>
      sourceCode.getCommentsInside(node).length > 0 || lines.has(node.loc.start.line) || lines.has(at.loc.start.line)
    const ignores = ({ type, params, body }) => {
      if (type !== 'ArrowFunctionExpression' && type !== 'FunctionExpression') return false
      if (params.length > 0) return false
      return body.type === 'BlockStatement' ? body.body.length === 0 : body.name === 'undefined'
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
        if (node.body.body.length === 0 && !hasReason(node)) context.report({ node, message })
      },
      CallExpression(node) {
        const { callee, arguments: given } = node
        if (callee.type !== 'MemberExpression' || callee.property.name !== 'catch' || given.length !== 1) return
        if (ignores(given[0]) && isDropped(node) && !hasReason(node, callee.property))
          context.report({ node: callee.property, message })
      },
    }
  },
}
