// Chromium does not know our scheme, so `app://host/path` travels as `http://host.app.localhost/path`, which is a secure context, too.
import { state } from './state.mjs'
import { strict } from './strict.mjs'

const privileged = new Set()
/** Handlers by partition and scheme. */
const handlers = new Map()
const keyOf = (partition, scheme) => `${partition} ${scheme}`

/** Converts `url` to the address that Chromium requests. @param {string} url */
export function toWire(url) {
  const match = /^([a-z][\w.+-]*):\/\/([^/?#]*)(.*)$/i.exec(url)
  return match && privileged.has(match[1]) ? `http://${match[2]}.${match[1]}.localhost${match[3] || '/'}` : url
}

/** Converts Chromium's address to the app's. @param {string} url */
export function fromWire(url) {
  const match = /^http:\/\/([^/?#]*)\.([a-z][\w+-]*)\.localhost(.*)$/i.exec(url)
  return match && privileged.has(match[2]) ? `${match[2]}://${match[1]}${match[3]}` : url
}

/** Asks the app for a file of its scheme. @returns {Promise<Response | undefined>} undefined: no handler for the scheme in this session */
export async function askHandler(partition, url, { method, headers, postData }) {
  const handler = handlers.get(keyOf(partition, url.split(':')[0]))
  if (!handler) return undefined
  try {
    return await handler(new Request(url, { method, headers, body: postData }))
  } catch (error) {
    console.error('protocol.handle:', error)
    return new Response(null, { status: 500 })
  }
}

/** @param {string} partition empty: of the default session */
const handlersOf = (partition) => ({
  handle(scheme, handler) {
    const key = keyOf(partition, scheme)
    if (handlers.has(key)) throw new Error(`The scheme ${scheme} has been intercepted already.`)
    handlers.set(key, handler)
  },
  isProtocolHandled: (scheme) => handlers.has(keyOf(partition, scheme)),
})

/** Handlers of one session. @param {string} partition empty: of the default session */
export const protocolOf = (partition) => strict('protocol', handlersOf(partition))

export const protocol = strict('protocol', {
  registerSchemesAsPrivileged(schemes) {
    if (state.isReady) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready')
    for (const { scheme } of schemes) privileged.add(scheme)
  },
  // The module is the protocol of the default session.
  ...handlersOf(''),
})
