/** Channels between the page and the main process: the only two there are. */
export const channels = {
  /** `invoke(name, input)`: a procedure of the console contract, answered with a ConsoleResult. */
  call: 'console:call',
  /** Pushed: one ConsoleEvent. */
  event: 'console:event',
} as const
