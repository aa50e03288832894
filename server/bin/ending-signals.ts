/**
 * Lists the signals that end a controller gracefully.
 * SIGHUP: the terminal was closed. A process without a terminal is a daemon, or was started to survive a closed
 * terminal (nohup, whose setting Node resets), and ignores SIGHUP.
 * Windows sends SIGHUP when a console window is closed, and ends the process about 10 s later. SIGBREAK is Ctrl+Break,
 * also sent by service wrappers.
 */
export function endingSignals(platform = process.platform, terminal = hasTerminal()): NodeJS.Signals[] {
  if (platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']
  return terminal ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM']
}

/** Calls `stop` with the signal that ends this process, or when its front process has ended. */
export function followSignals(stop: (reason: string) => void): void {
  for (const signal of endingSignals()) process.once(signal, stop)
  process.once('disconnect', () => stop('disconnect'))
  // Without a listener, SIGHUP would end a process without a terminal.
  if (!endingSignals().includes('SIGHUP')) process.on('SIGHUP', () => {})
}

function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
}
