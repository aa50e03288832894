import { spawn } from 'node:child_process'

/**
 * Runs the program of this process anew, in its place: the same arguments, the same terminal and pipes. Where the system can do it (execve), the same process id,
 * so that whoever supervises it notices nothing; else a new process goes on and this one ends.
 */
export function replaceProcess(environment: NodeJS.ProcessEnv): never {
  const command = [...process.execArgv, ...process.argv.slice(1)]
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...command], environment)
  spawn(process.execPath, command, { stdio: 'inherit', env: environment })
  process.exit(0)
}
