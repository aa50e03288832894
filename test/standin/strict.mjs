// A call that is not modelled must not look like one that works: it throws with its name.

/** Names that Node and Playwright probe on any object. */
const probed = new Set([
  'then',
  'toJSON',
  'domain',
  'nodeType',
  'asymmetricMatch',
  '$$typeof',
  'inspect',
  'captureRejections',
])

/**
 * @template {object} T
 * @param {string} name as in Electron's documentation
 * @param {T} target
 * @returns {T}
 */
export function strict(name, target) {
  return new Proxy(target, {
    get(object, property, receiver) {
      if (typeof property === 'symbol' || property in object || probed.has(property) || property.startsWith('_'))
        return Reflect.get(object, property, receiver)
      throw new Error(`stand-in: ${name}.${property} is not modelled`)
    },
  })
}
