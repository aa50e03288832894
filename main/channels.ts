/** All IPC channels between the page and the main process. */
export const channels = {
  /** `invoke(name, input)`: calls a procedure of the console contract; returns a ConsoleResult. */
  call: 'console:call',
  event: 'console:event',
  /** `invoke(name, input)`: calls a procedure of the app contract; returns a ConsoleResult. */
  app: 'app:call',
  /** Sends the part of the app that has changed, an AppChange, to the page. */
  appChange: 'app:changed',
  /** Sends the result of a download that the page started, a `DownloadEnd`, to the page. */
  download: 'download:ended',
} as const
