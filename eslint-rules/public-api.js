import { relative, sep } from 'node:path'

/** Files that rely on more than the documented API of Node or a library: each place has a test. */
const internals = new Set(['server/edge/node-internals.ts'])

const message =
  'This relies on the inside of Node or a library: use its documented API, or put it into node-internals.ts, with a test.'
const invokers = new Set(['call', 'apply', 'bind'])
const nameOf = (node) => (node.computed ? node.property.value : node.property.name)

/** Methods of foreign prototypes, private-looking members of other objects, and writing into foreign objects by reflection. */
export const publicApi = {
  meta: { type: 'problem', schema: [], docs: { description: 'use the documented API of Node and of libraries' } },
  create(context) {
    if (internals.has(relative(context.cwd, context.filename).split(sep).join('/'))) return {}
    return {
      MemberExpression(node) {
        const { object } = node
        const name = nameOf(node)
        if (typeof name === 'string' && /^_[a-z]/i.test(name) && object.type !== 'ThisExpression')
          context.report({ node, message })
        // Prototype.method.call(foreign)
        const isMethod = object.type === 'MemberExpression' && object.object.type === 'MemberExpression'
        if (invokers.has(name) && isMethod && nameOf(object.object) === 'prototype') context.report({ node, message })
        if (object.name === 'Reflect' && (name === 'set' || name === 'apply')) context.report({ node, message })
      },
    }
  },
}
