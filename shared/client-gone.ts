/**
 * Whether an error only means that the other side closed the connection. Then there is nothing to fix, and no response
 * can be sent.
 */
export function isClientGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
