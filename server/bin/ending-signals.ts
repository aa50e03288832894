/**
 * Lists the signals that end a controller in order.
 * SIGHUP: its terminal was closed. Without a terminal it is a daemon, or was started to survive that (nohup, whose choice Node resets), and goes on.
 * Windows sends SIGHUP when a console window is closed, and ends the process some 10 s later; SIGBREAK is Ctrl+Break, and the way of service wrappers.
 */
export function endingSignals(platform = process.platform, terminal = hasTerminal()): NodeJS.Signals[] {
  if (platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']
  return terminal ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM']
}

/** Calls `stop` with the signal that ends this process, or when the process in front of it has ended. */
export function followSignals(stop: (reason: string) => void): void {
  for (const signal of endingSignals()) process.once(signal, stop)
  process.once('disconnect', () => stop('disconnect'))
  // Without a listener it would end a process without a terminal.
  if (!endingSignals().includes('SIGHUP')) process.on('SIGHUP', () => {})
}

function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
}
