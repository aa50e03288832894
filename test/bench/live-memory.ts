/**
 * Loaded into a measured process (`--expose-gc --import`): at SIGUSR2 it collects garbage, and writes the remaining bytes into the file
 * named by LIVE_MEMORY_FILE. This separates live memory from uncollected garbage.
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
