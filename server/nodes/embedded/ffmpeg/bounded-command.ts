/** Address space, in KiB: hostile pictures may ask for any size. The libraries alone take 0.7 GB of it. */
const maxMemory = 3 * 1024 * 1024

/**
 * On POSIX systems the memory is bounded, nothing is dumped, and where the system can it ends with the thread that started it, even stopped; its standard
 * input ends in any case.
 */
const bounded =
  `ulimit -v ${maxMemory} 2>/dev/null; ulimit -c 0; ` +
  `if command -v setpriv >/dev/null 2>&1; then exec setpriv --pdeathsig KILL -- "$0" "$@"; fi; exec "$0" "$@"`

/** Command that runs a program on media of strangers with bounded memory. */
export function boundedCommand(path: string, parameters: readonly string[]): { command: string; given: string[] } {
  if (process.platform === 'win32') return { command: path, given: [...parameters] }
  return { command: '/bin/sh', given: ['-c', bounded, path, ...parameters] }
}
