import { type ChildProcess, spawn } from 'node:child_process'
import { endingSignals } from './ending-signals.ts'

/** Set in the environment of a process that has one in front of it. */
const behind = 'ROOMDESK_BEHIND'

/** Tells whether this process stays in front: on a system that cannot put a program in the place of another (execve). */
export function staysInFront(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): boolean {
  return platform === 'win32' && environment[behind] === undefined
}

/**
 * Runs this program again behind this process, and again each time when it asks for that: whoever started this process, such as a service wrapper, sees one process with one id.
 * Ends with the exit code of the last one.
 * @param environment of the next process
 */
export function startBehind(environment: NodeJS.ProcessEnv = process.env, platform = process.platform): void {
  let child: ChildProcess | undefined
  const start = (next: NodeJS.ProcessEnv): void => {
    const command = [...process.execArgv, ...process.argv.slice(1)]
    child = spawn(process.execPath, command, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...next, [behind]: '1' },
    })
    let successor: NodeJS.ProcessEnv | undefined
    child.on('message', (asked: NodeJS.ProcessEnv) => (successor = asked))
    child.once('error', (error) => {
      process.stderr.write(`Cannot run ${process.execPath}: ${error.message}\n`)
      process.exitCode = 1
    })
    child.once('exit', (code, signal) => {
      if (successor !== undefined) return start(successor)
      process.exitCode = code ?? (signal === null ? 0 : 1)
    })
  }
  for (const signal of endingSignals(platform)) {
    // On Windows the whole console group has the signal already.
    process.on(signal, () => void (platform !== 'win32' && child?.kill(signal)))
  }
  start(environment)
}
