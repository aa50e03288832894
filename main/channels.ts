/** All IPC channels between the page and the main process. */
export const channels = {
  /** `invoke(name, input)`: calls a procedure of the console contract; returns a ConsoleResult. */
  call: 'console:call',
  event: 'console:event',
  /** `invoke(name, input)`: calls a procedure of the app contract; returns a ConsoleResult. */
  app: 'app:call',
  /** Tells the page which part of the app has changed: an AppChange. */
  appChange: 'app:changed',
  /** Sends the result of a download that the page started, a `DownloadEnd`, to the page. */
  download: 'download:ended',
} as const
