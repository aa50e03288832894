const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a body as a JSON object in UTF-8; undefined: it is something else. */
export function jsonObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    return isObject(value) ? value : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads `ret`; digits as text are read, too, so that only the rule about its type is broken. */
export function readRet({ ret }: Readonly<Record<string, unknown>>): number | undefined {
  const number = typeof ret === 'string' && /^\d{1,4}$/.test(ret) ? Number(ret) : ret
  return typeof number === 'number' ? number : undefined
}
