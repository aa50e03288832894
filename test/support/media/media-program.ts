import { execFile } from 'node:child_process'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { mediaProgramArguments } from '../../../server/nodes/embedded/fork-process.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'node_modules/.cache/media-program/server')

const dayMs = 86_400_000

/** Program of the embedded media node, made from its sources at the start of each run of the tests. */
export const mediaProgram = join(folder, 'media-node.cjs')

/**
 * Runs a bundle with the code that V8 made of it before, which takes less than half the time of compiling it: the confined program cannot write a compile cache of Node.
 * V8 refuses what another version or other flags made, and compiles then.
 */
const loader = (code: string, cache: string): string => `'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')
const filename = __dirname + ${JSON.stringify(`/${code}`)}
const cache = __dirname + ${JSON.stringify(`/${cache}`)}
const making = process.argv[2] === 'make-cache'
const script = new Script('(function (exports, require, module, __filename, __dirname) {' + readFileSync(filename, 'utf8') + '\\n})', {
  filename,
  cachedData: making ? undefined : readFileSync(cache),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
script.runInThisContext().call(exports, exports, require, module, filename, __dirname)
if (making) {
  writeFileSync(cache, script.createCachedData())
  process.exit(0)
}
`

/**
 * Builds the media program. Hundreds of tests start it, and as one compiled file it starts in a fifth of the time.
 * Vitest calls it once, before all tests. `npm test` sets the variable if no selected file starts the program.
 */
export default async function buildMediaProgram(): Promise<void> {
  if (process.env.ROOMDESK_MEDIA_PROGRAM === 'unused') return
  const { build } = await import('vite')
  // Another run may use the files meanwhile.
  const own = `media-node-${process.pid}`
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    ssr: { noExternal: true, external: ['node-datachannel'] },
    build: {
      ssr: join(root, 'server/bin/media-node.ts'),
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      rolldownOptions: {
        external: [/^@?node-datachannel(\/|$)/, 'bufferutil', 'utf-8-validate'],
        output: { format: 'cjs', entryFileNames: `${own}.js`, codeSplitting: false },
      },
    },
  })
  await writeFile(join(folder, `${own}.cjs`), loader(`${own}.js`, `${own}.cache`))
  await promisify(execFile)(process.execPath, [...mediaProgramArguments, join(folder, `${own}.cjs`), 'make-cache'])
  await rename(join(folder, `${own}.cjs`), mediaProgram)
  await removeOld()
}

/** Removes bundles of earlier runs: none takes a day. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = (await stat(file).catch(() => undefined)) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > dayMs) await rm(file, { force: true })
  }
}
