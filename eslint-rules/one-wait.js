import { relative, sep } from 'node:path'

const isPromise = ({ type, callee }) => type === 'NewExpression' && callee.name === 'Promise'
// The client kit imports nothing of ours.
const allowed = new Set(['shared/abort.ts', 'shared/sleep.ts', 'clients/typescript/src/wait.ts'])

/** One function each waits for a time and for a signal: a listener of its own does not see a signal that is aborted already. */
export const oneWait = {
  meta: { type: 'problem', schema: [], docs: { description: 'let shared/abort.ts and shared/sleep.ts alone wait' } },
  create(context) {
    if (allowed.has(relative(context.cwd, context.filename).split(sep).join('/'))) return {}
    return {
      CallExpression(node) {
        const { callee, arguments: given } = node
        if (callee.type === 'MemberExpression' && callee.property.name === 'addEventListener') {
          if (given[0]?.value === 'abort')
            context.report({
              node,
              message: 'An `abort` listener misses a signal that is aborted already: use onAbort.',
            })
          return
        }
        // new Promise((resolve) => setTimeout(resolve, …))
        if (callee.name !== 'setTimeout' || given[0]?.type !== 'Identifier') return
        let executor = node.parent
        while (executor !== null && executor.type !== 'ArrowFunctionExpression') executor = executor.parent
        const [resolve] = executor?.params ?? []
        if (
          executor !== null &&
          isPromise(executor.parent) &&
          resolve?.name === given[0].name &&
          executor.body.type !== 'BlockStatement'
        )
          context.report({ node, message: 'Use sleep or pause of shared/sleep.ts.' })
      },
      ImportDeclaration({ source, specifiers }) {
        if (source.value !== 'node:timers/promises') return
        for (const specifier of specifiers)
          if (specifier.imported?.name === 'setTimeout')
            context.report({ node: specifier, message: 'Use sleep or pause of shared/sleep.ts.' })
      },
    }
  },
}
