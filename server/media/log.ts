/** What the node writes; `detail` holds no login, token or password. */
export interface Log {
  debug(message: string, detail?: string): void
  info(message: string, detail?: string): void
  warn(message: string, detail?: string): void
  error(message: string, detail?: string): void
}
