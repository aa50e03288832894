import { rename } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'node_modules/.cache/media-program/server')

/** Program of the embedded media node as one file, made from its sources at the start of each run of the tests. */
export const mediaProgram = join(folder, 'media-node.js')

/**
 * Builds the media program. Hundreds of tests start it, and as one file it starts in a third of the time.
 * Vitest calls it once, before all tests.
 */
export default async function buildMediaProgram(): Promise<void> {
  const { build } = await import('vite')
  // Another run may use the file meanwhile.
  const own = `media-node-${process.pid}.js`
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
        output: { format: 'es', entryFileNames: own, codeSplitting: false },
      },
    },
  })
  await rename(join(folder, own), mediaProgram)
}
