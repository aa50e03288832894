// Reports to its parent which programs may start, and what one of them reads from a file.
import { execFileSync, fork, spawn, spawnSync } from 'node:child_process'
import { Worker } from 'node:worker_threads'

const [file = ''] = process.argv.slice(2)

/** @param {() => unknown} run */
function outcomeOf(run) {
  try {
    return String(run() ?? 'done')
  } catch (error) {
    return error.code
  }
}

process.send?.(
  {
    cat: outcomeOf(() => execFileSync('/bin/cat', [file], { encoding: 'latin1' })),
    shell: outcomeOf(() => spawnSync('/bin/sh', ['-c', `cat '${file}'`], { encoding: 'latin1' }).stdout),
    spawn: outcomeOf(() => spawn('/bin/sh', ['-c', 'true']).pid),
    fork: outcomeOf(() => fork(import.meta.filename, [], { execArgv: [], execPath: '/bin/true' }).pid),
    node: outcomeOf(() => spawnSync(process.execPath, ['-e', '1']).status),
    execve: outcomeOf(() => process.execve?.('/bin/cat', ['/bin/cat', file], {})),
    worker: outcomeOf(() => new Worker('', { eval: true, execArgv: ['--allow-child-process'] }).threadId),
  },
  () => process.disconnect(),
)
