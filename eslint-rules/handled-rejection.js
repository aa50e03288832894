/** Calls whose result handles the rejection of the promise before them, at the latest: `.catch(f)`, `.then(f, g)`, and `.finally(f)` behind one of these. */
function isHandled(node) {
  if (node.type === 'ChainExpression') return isHandled(node.expression)
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
  const { object, property } = node.callee
  if (property.name === 'catch') return node.arguments.length > 0
  if (property.name === 'then') return node.arguments.length > 1
  return property.name === 'finally' && isHandled(object)
}

/** `void` drops a promise with its rejection, which then ends the process: work that nobody waits for is given to a function that says what becomes of its failure. */
export const handledRejection = {
  meta: { type: 'problem', schema: [], docs: { description: 'let no promise be dropped with `void`' } },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices
    const checker = program.getTypeChecker()
    const isPromise = (type) => (type.isUnion() ? type.types : [type]).some((part) => part.getProperty('then'))
    return {
      'UnaryExpression[operator="void"]'({ argument }) {
        if (isHandled(argument) || !isPromise(checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(argument)))) return
        context.report({
          node: argument,
          message: 'Nobody handles a rejection of this promise: await it, or use inBackground or mustNotFail.',
        })
      },
    }
  },
}
