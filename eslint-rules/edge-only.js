import { relative, sep } from 'node:path'

const modules = /^(?:node:)?(?:http|https|http2|net|tls)$/
const makers = new Set(['createServer', 'createSecureServer'])

/** Only the edge makes servers: what protects one port protects all. */
export const edgeOnly = {
  meta: { type: 'problem', schema: [], docs: { description: 'let server/edge alone make servers' } },
  create(context) {
    const path = relative(context.cwd, context.filename).split(sep).join('/')
    if (path.startsWith('server/edge/')) return {}
    const message = 'Only server/edge/ makes servers: use its EdgeServer.'
    const namespaces = new Set()
    return {
      ImportDeclaration(node) {
        if (!modules.test(node.source.value) || node.importKind === 'type') return
        for (const specifier of node.specifiers) {
          if (specifier.type !== 'ImportSpecifier') namespaces.add(specifier.local.name)
          else if (specifier.importKind === 'type') continue
          else if (makers.has(specifier.imported.name)) context.report({ node: specifier, message })
          else if (specifier.imported.name === 'Server') namespaces.add(specifier.local.name)
        }
      },
      MemberExpression(node) {
        const name = node.computed ? node.property.value : node.property.name
        if (node.object.type === 'Identifier' && namespaces.has(node.object.name) && makers.has(name)) {
          context.report({ node, message })
        }
      },
      NewExpression({ callee }) {
        const made = callee.type === 'MemberExpression' ? callee.object : callee
        const isServer = callee.type === 'Identifier' || callee.property?.name === 'Server'
        if (isServer && made.type === 'Identifier' && namespaces.has(made.name))
          context.report({ node: callee, message })
      },
    }
  },
}
