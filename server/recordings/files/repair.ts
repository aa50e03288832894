import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type OwnPath, withSuffix } from '../../../shared/files/own-path.ts'
import { openInside, removeInside, sizeInside } from '../../../shared/files/real-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import type { Segment, SegmentFacts, SegmentStart } from '../../../shared/recordings/segment.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import { type FoundFile, findRecordings } from './find-files.ts'
import { readSegmentFacts, type WholePart, wholePart } from './segment-facts.ts'
import { renameFile } from '../../store/system/rename-file.ts'

/** Suffix of a file that cannot be repaired. The file is kept, but no longer counts as a recording. */
const damagedSuffix = '.damaged'

/** Result of the repair of a file that was cut off. */
export type Repaired =
  /** The file can be played up to its real end. */
  | { outcome: 'repaired'; file: string; segment: Segment; lostBytes: number }
  /** The file contained no media and was removed. */
  | { outcome: 'empty'; file: string }
  /** The file is unreadable and was renamed with `damagedSuffix`. */
  | { outcome: 'damaged'; file: string }
  /** The disk reported an error. */
  | { outcome: 'failed'; file: string; error: unknown }

/** Maximum size of a file that contains only a header, in bytes. */
const maxHeaderBytes = 64 * 1024

/**
 * Repairs the files of a recordings folder that were cut off when their process or machine stopped. Each file is
 * truncated after its last complete fragment and receives its final name.
 * @param isOpen returns whether a file is being written; open files stay unchanged
 * @throws Error if the folder cannot be read
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

/** Repairs a file that was cut off. @throws Error of the disk */
export async function repairFile(folder: string, { file, container, startedAt }: FoundFile): Promise<Repaired> {
  const path = recordedPath(folder, file)
  const part = withSuffix(path, partSuffix)
  const whole = await cutOff(folder, part, container)
  if (whole === 'empty') {
    await removeInside(folder, part)
    return { outcome: 'empty', file }
  }
  // A complete file with this name is never replaced.
  if (whole === 'damaged' || (await exists(folder, path))) {
    await renameFile(part, withSuffix(path, damagedSuffix))
    return { outcome: 'damaged', file }
  }
  const { facts, bytes, durationMs, size } = whole
  await renameFile(part, path)
  await syncFolder(dirname(path))
  const segment: Segment = { ...facts, file, startedAt, endedAt: startedAt + durationMs, bytes, end: 'cut' }
  return { outcome: 'repaired', file, segment, lostBytes: size - bytes }
}

/** Truncates a file after its last complete fragment. An `empty` or `damaged` file stays unchanged. */
async function cutOff(
  folder: string,
  part: OwnPath,
  container: SegmentStart['container'],
): Promise<(WholePart & { facts: SegmentFacts }) | 'empty' | 'damaged'> {
  const handle = await openInside(folder, part, 'change')
  try {
    const whole = await wholePart(handle, container)
    if (whole.durationMs === 0 && (whole.bytes === whole.size || whole.size <= maxHeaderBytes)) return 'empty'
    const facts = await readSegmentFacts(handle)
    if (whole.durationMs === 0 || facts === undefined) return 'damaged'
    await handle.truncate(whole.bytes)
    await handle.sync()
    return { ...whole, facts }
  } finally {
    await handle.close()
  }
}

async function exists(folder: string, path: OwnPath): Promise<boolean> {
  return await sizeInside(folder, path).then(
    () => true,
    (error: unknown) => !hasCode(error, 'ENOENT'),
  )
}

/** Makes the new name durable, if the file system supports it. */
async function syncFolder(folder: string): Promise<void> {
  // Some file systems cannot open folders.
  const handle = await open(folder, 'r').catch(() => undefined)
  // Some file systems cannot sync folders.
  await handle?.sync().catch(() => {})
  await handle?.close()
}
