/** Log of the node; `detail` must not contain a login, token or password. */
export interface MediaLog {
  debug(message: string, detail?: string): void
  info(message: string, detail?: string): void
  warn(message: string, detail?: string): void
  error(message: string, detail?: string): void
}

/** Returns the text of a thrown value with stack and causes, for the log. */
export function wholeText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const text = thrown.stack ?? thrown.message
  return thrown.cause === undefined ? text : `${text}\ncaused by ${wholeText(thrown.cause)}`
}
