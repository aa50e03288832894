import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, type Finding, findingReasonOf, found } from './readiness.ts'

/** Size of a write in bytes, as in a usual commit. */
const writeBytes = 4_096
const maxWrites = 40
/** Time after which no further write starts, in milliseconds. */
const budgetMs = 4_000
/** Limits of a durable write, in milliseconds: every change of the site waits for one. */
const slow = { median_ms: 40, worst_ms: 500 }

/** Measures durable writes in a folder: append and sync, as each change of the site does. */
export function diskCheck(folder: string): Check {
  return async (signal) => {
    const path = join(folder, 'readiness.tmp')
    try {
      return speedOf(await timesOf(path, signal))
    } catch (error) {
      if (signal.aborted) throw error
      return found('diskRefused', { reason: findingReasonOf(error) })
    } finally {
      // A remaining file does not affect the result, and the next check replaces it.
      await rm(path, { force: true }).catch(() => {})
    }
  }
}

/** Returns the durations of the writes in milliseconds. @throws errors of the file system */
async function timesOf(path: string, signal: AbortSignal): Promise<number[]> {
  const file = await open(path, 'w', 0o600)
  try {
    const block = Buffer.alloc(writeBytes, 'roomdesk ')
    const times: number[] = []
    const began = performance.now()
    while (times.length < maxWrites && performance.now() - began < budgetMs) {
      signal.throwIfAborted()
      const start = performance.now()
      await file.write(block)
      await file.datasync()
      times.push(performance.now() - start)
    }
    return times
  } finally {
    await file.close()
  }
}

function speedOf(times: readonly number[]): Finding {
  const sorted = [...times].sort((one, other) => one - other)
  const rounded = (value = 0): number => Math.round(value * 100) / 100
  const values = {
    median_ms: rounded(sorted[Math.floor(sorted.length / 2)]),
    worst_ms: rounded(sorted.at(-1)),
    count: sorted.length,
  }
  const isSlow = values.median_ms > slow.median_ms || values.worst_ms > slow.worst_ms
  return isSlow ? found('diskSlow', values) : found('diskFast', values)
}

/** Minimum free space: in bytes, and as a share of the disk. */
const little = { bytes: 2e9, share: 0.03 }

/** Checks the free space of folders, and reports the folder with the least free space. */
export function spaceCheck(folders: () => readonly string[]): Check {
  return async () => {
    const disks = await Promise.all(
      folders().map(async (folder) => {
        const { bavail, blocks, bsize } = await statfs(folder)
        return { folder, free_bytes: bavail * bsize, total_bytes: blocks * bsize }
      }),
    )
    const [fullest] = disks.sort((one, other) => one.free_bytes - other.free_bytes)
    if (fullest === undefined) throw new Error('there is no folder to check')
    const { folder, free_bytes, total_bytes } = fullest
    const isLow = free_bytes < little.bytes || free_bytes < total_bytes * little.share
    return isLow
      ? found('spaceLow', { folder, free_bytes, total_bytes })
      : found('spaceEnough', { free_bytes, total_bytes })
  }
}
