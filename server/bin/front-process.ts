import { type ChildProcess, spawn } from 'node:child_process'
import { endingSignals } from './ending-signals.ts'

/** Set in the environment of a process that has one in front of it. */
const behind = 'ROOMDESK_BEHIND'

/** Tells whether this process stays in front: on a system that cannot put a program in the place of another (execve). */
export function staysInFront(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): boolean {
  return platform === 'win32' && environment[behind] === undefined
}

/** Program that is started, and its environment. */
export interface NextProgram {
  program: string
  environment: NodeJS.ProcessEnv
}

const thisProgram = (environment: NodeJS.ProcessEnv): NextProgram => ({ program: process.execPath, environment })

/** Differences of the program behind this process. */
export interface BehindOptions {
  /** Arguments after those of this process. */
  more?: readonly string[]
  /** Returns how a successor is started that takes over this environment; left out: as this program. */
  successor?: (environment: NodeJS.ProcessEnv) => NextProgram
  /** Ends this process; left out: it ends by itself, with this exit code. */
  end?: (code: number) => void
}

/**
 * Runs this program again behind this process, and again each time when it asks for that: whoever started this process, such as a service wrapper, sees one process with one id.
 * Ends with the exit code of the last one.
 * @param environment of the next process
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
      // A terminal sends Ctrl+C to its whole process group: the program would get the signal twice, and Electron ends at once at the second one.
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
    // On Windows the whole console group has the signal already.
    process.on(signal, () => void (platform !== 'win32' && child?.kill(signal)))
  }
  // Without a listener it would end a process without a terminal, as in followSignals.
  if (!endingSignals(platform).includes('SIGHUP')) process.on('SIGHUP', () => {})
  start(thisProgram(environment))
}
