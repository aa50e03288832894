/** All channels between the page and the main process. */
export const channels = {
  /** `invoke(name, input)`: a procedure of the console contract; answers a ConsoleResult. */
  call: 'console:call',
  /** Pushed: one ConsoleEvent. */
  event: 'console:event',
  /** Pushed: the result of a download that the page started, a `DownloadEnd`. */
  download: 'download:ended',
} as const
