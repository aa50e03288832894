import { type ChildProcess, spawn } from 'node:child_process'
import { endingSignals } from './ending-signals.ts'

/** Environment variable that is set in the child process of a front process. */
const behind = 'ROOMDESK_BEHIND'

/** Whether this process stays as the front process: on systems that cannot replace a program (execve). */
export function staysInFront(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): boolean {
  return platform === 'win32' && environment[behind] === undefined
}

export interface NextProgram {
  program: string
  environment: NodeJS.ProcessEnv
}

const thisProgram = (environment: NodeJS.ProcessEnv): NextProgram => ({ program: process.execPath, environment })

/** Options of the child process of a front process. */
export interface BehindOptions {
  /** Additional arguments, after those of this process. */
  more?: readonly string[]
  /** Returns how to start a successor with this environment; undefined: in the same way as this program. */
  successor?: (environment: NodeJS.ProcessEnv) => NextProgram
  /** Ends this process with this exit code; undefined: sets `process.exitCode`. */
  end?: (code: number) => void
}

/**
 * Runs this program again as a child process, and restarts the child at its request. For the program that started this
 * process, such as a service wrapper, the process id stays the same. Ends with the exit code of the last child.
 * @param environment environment variables of the next process
 */
export function startBehind(
  environment: NodeJS.ProcessEnv = process.env,
  platform = process.platform,
  { more = [], successor: next = thisProgram, end = (code) => (process.exitCode = code) }: BehindOptions = {},
): void {
  let child: ChildProcess | undefined
  const start = ({ program, environment: given }: NextProgram): void => {
    const command = [...process.execArgv, ...process.argv.slice(1), ...more]
    child = spawn(program, command, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...given, [behind]: '1' },
      // A terminal sends Ctrl+C to its whole process group: the child would receive the signal twice, and Electron
      // exits immediately at the second one.
      detached: platform !== 'win32',
    })
    let successor: NodeJS.ProcessEnv | undefined
    child.on('message', (asked: NodeJS.ProcessEnv) => (successor = asked))
    child.once('error', (error) => {
      process.stderr.write(`Cannot run ${program}: ${error.message}\n`)
      end(1)
    })
    child.once('exit', (code, signal) => {
      if (successor !== undefined) return start(next(successor))
      end(code ?? (signal === null ? 0 : 1))
    })
  }
  for (const signal of endingSignals(platform)) {
    // On Windows the whole console group has already received the signal.
    process.on(signal, () => void (platform !== 'win32' && child?.kill(signal)))
  }
  // Without a listener, SIGHUP would end a process without a terminal, as in followSignals.
  if (!endingSignals(platform).includes('SIGHUP')) process.on('SIGHUP', () => {})
  start(thisProgram(environment))
}

/**
 * Replaces this process by a new run of its program with the same arguments, terminal and pipes. If the system supports
 * it (execve), the process id stays the same, so that supervisors are not affected. On other systems, the front process
 * starts the new process (`startBehind`). Without a front process, this process spawns the new process and exits.
 */
export function replaceProcess(environment: NodeJS.ProcessEnv): void {
  const command = [...process.execArgv, ...process.argv.slice(1)]
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...command], environment)
  if (process.send !== undefined) {
    process.send(environment, () => process.exit(0))
    return
  }
  spawn(process.execPath, command, { stdio: 'inherit', env: environment })
  process.exit(0)
}
