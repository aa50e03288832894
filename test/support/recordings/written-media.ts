import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { findRecordings, wholePart } from '../../../server/recordings/index/recorded-files.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'

/** Media of a segment that is on the disk and plays, in milliseconds; also while the segment is written. @param folder the recordings folder */
export async function writtenMs(folder: string, { file, container }: Pick<SegmentStart, 'file' | 'container'>) {
  const path = join(folder, file)
  const handle = await open(path + partSuffix, 'r').catch(() => open(path, 'r').catch(() => undefined))
  const whole = handle && (await wholePart(handle, container).catch(() => undefined))
  await handle?.close()
  return whole?.durationMs ?? 0
}

/** Waits until each of some streams has this much media on the disk in its newest segment. @param newest segments, one or more for each stream */
export async function holdsMedia(
  folder: string,
  newest: () => readonly Pick<SegmentStart, 'file' | 'container'>[],
  ms: number,
): Promise<void> {
  const shortest = async (): Promise<number> => {
    const lengths = await Promise.all(newest().map((segment) => writtenMs(folder, segment)))
    return lengths.length === 0 ? 0 : Math.min(...lengths)
  }
  await expect.poll(shortest, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(ms)
}

/** Waits until some files of a folder are being written, and each has this much media on the disk, in milliseconds. */
export async function folderHolds(folder: string, ms: number): Promise<void> {
  const shortest = async (): Promise<number> => {
    const lengths: number[] = []
    for await (const found of findRecordings(folder)) if (found.isPart) lengths.push(await writtenMs(folder, found))
    return lengths.length === 0 ? 0 : Math.min(...lengths)
  }
  await expect.poll(shortest, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(ms)
}
