import { spawn } from 'node:child_process'

/**
 * Replaces this process by a new run of its program with the same arguments, terminal and pipes. Where the system can do it (execve), the process id stays, so that a supervisor
 * notices nothing; otherwise a new process goes on and this one ends.
 */
export function replaceProcess(environment: NodeJS.ProcessEnv): never {
  const command = [...process.execArgv, ...process.argv.slice(1)]
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...command], environment)
  spawn(process.execPath, command, { stdio: 'inherit', env: environment })
  process.exit(0)
}
