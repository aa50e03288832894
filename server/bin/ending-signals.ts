/**
 * Lists the signals that end a controller in order.
 * SIGHUP: its terminal was closed. Without a terminal it is a daemon, or was started to survive that (nohup, whose choice Node resets), and goes on: see `goOnWithoutTerminal`.
 * Windows sends SIGHUP when a console window is closed, and ends the process some 10 s later; SIGBREAK is Ctrl+Break, and the way of service wrappers.
 */
export function endingSignals(platform = process.platform, terminal = hasTerminal()): NodeJS.Signals[] {
  if (platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']
  return terminal ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM']
}

/** Keeps SIGHUP from ending a process without a terminal. */
export function goOnWithoutTerminal(): void {
  if (!endingSignals().includes('SIGHUP')) process.on('SIGHUP', () => {})
}

function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
}
