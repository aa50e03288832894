/** Runs a headless controller and its media node from source: Node.js strips the types, so nothing is built. */
import { join } from 'node:path'
import { followSignals } from '../server/bin/ending-signals.ts'
import { runHeadless } from '../server/bin/headless-program.ts'
import { forkMediaProcess } from '../server/nodes/embedded/fork-process.ts'

const root = join(import.meta.dirname, '..')

await runHeadless({
  flags: process.argv.slice(2),
  // Vite serves the console and the room page. The page that plays recordings exists only in a build.
  pages: join(root, 'dist'),
  spawnMedia: (recordings, roomPage) =>
    forkMediaProcess(join(root, 'server/bin/media-node.ts'), [roomPage, join(root, 'texts')], recordings),
  // `npm run dev` starts the next controller.
  startAgain: () => process.exit(1),
  followEnd: followSignals,
  end: (code) => process.exit(code),
})
