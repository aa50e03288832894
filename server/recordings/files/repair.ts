import { open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Segment } from '../../../shared/recordings/segment.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import { type FoundFile, findRecordings } from './find-files.ts'
import { readFacts, wholePart } from './segment-facts.ts'
import { renameFile } from '../../store/system/rename-file.ts'

/** Suffix of a file that nobody could repair: it is kept, and is no recording any more. */
const damagedSuffix = '.damaged'

/** Outcome of a file that was cut off. */
export type Repaired =
  /** It plays up to its real end now. */
  | { outcome: 'repaired'; file: string; segment: Segment; lostBytes: number }
  /** Nothing of it was on disk: it was removed. */
  | { outcome: 'empty'; file: string }
  /** It cannot be read: it was set aside, with `damagedSuffix`. */
  | { outcome: 'damaged'; file: string }
  /** The disk refused. */
  | { outcome: 'failed'; file: string; error: unknown }

/** Largest file that may hold nothing but a header, in bytes. */
const maxHeaderBytes = 64 * 1024

/**
 * Repairs the files of a recordings folder that were cut off when their process or machine ended: each is cut behind its last whole fragment and gets its name.
 * @param isOpen whether a file is being written now: it stays as it is
 * @throws Error when the folder cannot be read
 */
export async function* repairRecordings(
  folder: string,
  isOpen: (found: FoundFile) => boolean = () => false,
): AsyncGenerator<Repaired> {
  for await (const found of findRecordings(folder)) {
    if (!found.isPart || isOpen(found)) continue
    try {
      yield await repairFile(folder, found)
    } catch (error) {
      yield { outcome: 'failed', file: found.file, error }
    }
  }
}

/** Repairs one file that was cut off. @throws Error of the disk */
export async function repairFile(folder: string, { file, container, startedAt }: FoundFile): Promise<Repaired> {
  const path = join(folder, file)
  const part = path + partSuffix
  const { bytes, size, durationMs } = await wholePart(part, container)
  if (durationMs === 0 && (bytes === size || size <= maxHeaderBytes)) {
    await rm(part)
    return { outcome: 'empty', file }
  }
  const facts = await readFacts(part)
  if (durationMs === 0 || facts === undefined) {
    await renameFile(part, path + damagedSuffix)
    return { outcome: 'damaged', file }
  }
  const handle = await open(part, 'r+')
  try {
    await handle.truncate(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // A complete file of this name is never replaced.
  if (await exists(path)) {
    await renameFile(part, path + damagedSuffix)
    return { outcome: 'damaged', file }
  }
  await renameFile(part, path)
  await syncFolder(dirname(path))
  const segment: Segment = { ...facts, file, startedAt, endedAt: startedAt + durationMs, bytes, end: 'cut' }
  return { outcome: 'repaired', file, segment, lostBytes: size - bytes }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

/** Makes the new name durable, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
