// Chromium does not know our scheme, so `app://host/path` travels as `http://host.app.localhost/path`, which is a secure context, too.
import { state } from './state.mjs'
import { strict } from './strict.mjs'

const privileged = new Set()
const handlers = new Map()

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

/** Asks the app for a file of its scheme. @returns {Promise<Response | undefined>} undefined: no handler for the scheme */
export async function askHandler(url, { method, headers, postData }) {
  const handler = handlers.get(url.split(':')[0])
  if (!handler) return undefined
  try {
    return await handler(new Request(url, { method, headers, body: postData }))
  } catch (error) {
    console.error('protocol.handle:', error)
    return new Response(null, { status: 500 })
  }
}

export const protocol = strict('protocol', {
  registerSchemesAsPrivileged(schemes) {
    if (state.isReady) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready')
    for (const { scheme } of schemes) privileged.add(scheme)
  },
  handle(scheme, handler) {
    if (handlers.has(scheme)) throw new Error(`The scheme ${scheme} has been intercepted already.`)
    handlers.set(scheme, handler)
  },
  isProtocolHandled: (scheme) => handlers.has(scheme),
})
