import { spawn } from 'node:child_process'

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
