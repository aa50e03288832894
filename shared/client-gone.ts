/**
 * Whether an error only means that the client closed the connection: no response can be sent, and nothing has to be
 * fixed.
 */
export function isClientGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
