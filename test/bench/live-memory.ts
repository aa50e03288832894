/**
 * Loaded into a process that is looked at (`--expose-gc --import`): at SIGUSR2 it clears away what nothing refers to any more, and writes what is left, in bytes, into the file
 * that LIVE_MEMORY_FILE names. So what is kept is told from what is only not cleared away yet.
 */
import { writeFileSync } from 'node:fs'

const file = process.env.LIVE_MEMORY_FILE
const collect = globalThis.gc

if (file !== undefined && collect !== undefined) {
  process.on('SIGUSR2', () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    writeFileSync(file, `${heapUsed + external}\n`)
  })
}
