/** Channels between the page and the main process: the only ones there are. */
export const channels = {
  /** `invoke(name, input)`: a procedure of the console contract, answered with a ConsoleResult. */
  call: 'console:call',
  /** Pushed: one ConsoleEvent. */
  event: 'console:event',
  /** Pushed: what became of a file that the page handed to the operator, a `DownloadEnd`. */
  download: 'download:ended',
} as const
