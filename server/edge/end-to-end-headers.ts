/** First header of a request that one controller of a site sends to another; never accepted from a client. */
export const passedOnHeader = 'Roomdesk-Client'
const lowerName = passedOnHeader.toLowerCase()

/** Headers of one connection only (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Returns the end-to-end headers of a message, unchanged: name, value, name, value. Leaves out the header with which
 * controllers describe a client.
 */
export function endToEnd(raw: readonly string[]): string[] {
  const named = namedByConnection(raw)
  const passed: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]]
    const lower = name.toLowerCase()
    if (ofConnection.has(lower) || named?.has(lower) === true || lower === lowerName) continue
    passed.push(name, value)
  }
  return passed
}
/** Returns the value of a header, the first if there are several; undefined: none. */
export function headerOf(raw: readonly string[], wanted: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) if (raw[i]?.toLowerCase() === wanted) return raw[i + 1]
  return undefined
}

function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  const value = headerOf(raw, 'connection')
  if (value === undefined || /^(keep-alive|close|upgrade)$/i.test(value)) return undefined
  // A client must not remove Host or Content-Length by listing them in Connection.
  const names = value.split(',').map((name) => name.trim().toLowerCase())
  return new Set(names.filter((name) => name !== 'host' && name !== 'content-length'))
}
