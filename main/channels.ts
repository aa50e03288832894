/** All channels between the page and the main process. */
export const channels = {
  /** `invoke(name, input)`: a procedure of the console contract; answers a ConsoleResult. */
  call: 'console:call',
  /** Pushed: one ConsoleEvent. */
  event: 'console:event',
  /** `invoke(name, input)`: a procedure of the app contract; answers a ConsoleResult. */
  app: 'app:call',
  /** Pushed: the part of the app that has changed, an AppChange. */
  appChange: 'app:changed',
  /** Pushed: the result of a download that the page started, a `DownloadEnd`. */
  download: 'download:ended',
} as const
