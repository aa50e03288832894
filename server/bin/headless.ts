import { join } from 'node:path'
import { passRestarts } from '../controller/restarts.ts'
import { forkMediaProcess } from '../nodes/embedded/fork-process.ts'
import { followSignals } from './ending-signals.ts'
import { startBehind, staysInFront } from './front-process.ts'
import { runHeadless } from './headless-program.ts'
import { replaceProcess } from './replace-process.ts'

const folder = import.meta.dirname

if (staysInFront(process.platform, process.env)) startBehind()
else
  await runHeadless({
    flags: process.argv.slice(2),
    pages: join(folder, '..'),
    spawnMedia: (recordings, roomPage) => forkMediaProcess(join(folder, 'media-node.js'), [roomPage], recordings),
    startAgain: (next) => replaceProcess(passRestarts(process.env, next)),
    followEnd: followSignals,
    end: (code) => process.exit(code),
  })
