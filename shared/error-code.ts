/** Returns the `code` of an error from Node.js, TLS or a library, e.g. `ECONNREFUSED`; empty: none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** Whether an error has one of these codes (e.g. `ENOENT`). */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  const code = errorCode(error)
  return code !== '' && codes.includes(code)
}
