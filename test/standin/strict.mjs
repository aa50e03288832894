// A call that is not modelled must not pass for one that works: it throws with its name.

/** What Node and Playwright look for on any object, without meaning to call it. */
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
 * @param {string} name as Electron's documentation spells it
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
