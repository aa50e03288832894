// Requests of the main process: Node's own, without Chromium's certificates and proxies.
import { strict } from './strict.mjs'

export const net = strict('net', {
  fetch: (url, { cache: _cache, credentials: _credentials, ...options } = {}) => fetch(url, options),
})
