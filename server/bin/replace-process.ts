import { spawn } from 'node:child_process'

/**
 * Replaces this process by a new run of its program with the same arguments, terminal and pipes. Where the system can do it (execve), the process id stays, so that a supervisor
 * notices nothing. On other systems the process in front starts the next one (`startBehind`); without one a new process goes on, and this one ends.
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
