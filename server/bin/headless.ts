import { join, parse } from 'node:path'
import { errorCode } from '../../shared/error-code.ts'
import { passRestarts } from '../controller/restarts.ts'
import { forkMediaProcess } from '../nodes/embedded/fork-process.ts'
import { followSignals } from './ending-signals.ts'
import { replaceProcess, startBehind, staysInFront } from './front-process.ts'

const folder = import.meta.dirname

const inDeletedFolder = leaveDeletedFolder()
if (staysInFront(process.platform, process.env)) startBehind()
else {
  // Loaded after the change of folder, because libraries of the program read the working directory at load.
  const { runHeadless } = await import('./headless-program.ts')
  await runHeadless({
    flags: process.argv.slice(2),
    inDeletedFolder,
    pages: join(folder, '..'),
    spawnMedia: (recordings, roomPage) => forkMediaProcess(join(folder, 'media-node.js'), [roomPage], recordings),
    startAgain: (next) => replaceProcess(passRestarts(process.env, next)),
    followEnd: followSignals,
    end: (code) => process.exit(code),
  })
}

/**
 * Changes to the root folder if the working directory was deleted: Node's `process.cwd()` would throw.
 * @returns whether the working directory was deleted
 */
function leaveDeletedFolder(): boolean {
  try {
    process.cwd()
    return false
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    process.chdir(parse(process.execPath).root)
    return true
  }
}
