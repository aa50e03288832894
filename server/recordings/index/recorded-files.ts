import { type FileHandle, open, opendir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Source } from 'mediabunny'
import { errorCode, hasCode } from '../../../shared/error-code.ts'
import { insideOf, isPathPart, type OwnPath, withSuffix } from '../../../shared/files/own-path.ts'
import { openInside, removeInside, sizeInside } from '../../../shared/files/real-path.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import {
  type Segment,
  segmentContainers,
  type SegmentFacts,
  type SegmentStart,
  storedFactsSchema,
} from '../../../shared/recordings/segment.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import { renameFile } from '../../store/system/rename-file.ts'
import { type ByteSource, HeaderReader } from '../playback/byte-source.ts'
import { newScanState } from '../playback/fragment-table.ts'
import type { ScanState } from '../playback/fragments.ts'
import { scanMp4 } from '../playback/mp4-scan.ts'
import { scanWebm } from '../playback/webm-scan.ts'

/** File of a recording, found by its name. */
interface FoundFile {
  /** Path relative to the folder, with `/`, without the suffix of an incomplete file. */
  file: string
  container: SegmentStart['container']
  /** Start in milliseconds since the epoch, from the file name. */
  startedAt: number
  /** Whether the file is incomplete: being written, or cut off. */
  isPart: boolean
}

const namePattern = new RegExp(`^(\\d{1,16})\\.(${segmentContainers.join('|')})(\\${partSuffix})?$`)

/**
 * Lists the recordings below a folder by their names alone, without other files. A missing folder counts as empty.
 * @throws Error of the disk
 */
export async function* findRecordings(folder: string): AsyncGenerator<FoundFile> {
  const waiting: string[][] = [[]]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const opened = await opendir(current.length === 0 ? folder : insideOf(folder, ...current)).catch(
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      },
    )
    if (opened === undefined) continue
    for await (const entry of opened) {
      if (entry.isDirectory() && isPathPart(entry.name)) waiting.push([...current, entry.name])
      const [, started, container, part] = namePattern.exec(entry.name) ?? []
      if (!entry.isFile() || container === undefined) continue
      yield {
        file: [...current, `${started ?? ''}.${container}`].join('/'),
        container: container === 'webm' ? 'webm' : 'mp4',
        startedAt: Number(started),
        isPart: part !== undefined,
      }
    }
  }
}

/** Readable part of a file, up to the position where it was cut off or damaged. */
interface WholePart {
  /** Number of readable bytes from the beginning. */
  bytes: number
  /** Size of the file in bytes. */
  size: number
  /** Duration of the media, in milliseconds; 0: no media. */
  durationMs: number
}

/** Reads the metadata that the recorder wrote into a file; undefined if it contains none, or is not a recording. */
async function readSegmentFacts(handle: FileHandle): Promise<SegmentFacts | undefined> {
  return await factsOf(handle, (await handle.stat()).size)
}

/**
 * Reads the metadata of a recording from any source.
 * @param size size of the recording, in bytes
 * @throws errors of the source
 */
export async function factsOf(source: Pick<ByteSource, 'read'>, size: number): Promise<SegmentFacts | undefined> {
  let failure: Error | undefined
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    const buffer = new Uint8Array(end - start)
    try {
      const { bytesRead } = await source.read(buffer, 0, buffer.length, start)
      return buffer.subarray(0, bytesRead)
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error))
      throw error
    }
  }
  const { CustomSource } = await import('mediabunny')
  const facts = await factsIn(new CustomSource({ getSize: () => size, read }))
  if (failure !== undefined) throw failure
  return facts
}

async function factsIn(source: Source): Promise<SegmentFacts | undefined> {
  const { ALL_FORMATS, Input } = await import('mediabunny')
  const input = new Input({ source, formats: ALL_FORMATS })
  try {
    const { comment } = await input.getMetadataTags()
    const parsed = storedFactsSchema.safeParse(JSON.parse(comment ?? ''))
    return parsed.success ? parsed.data : undefined
  } catch {
    // The file is not from this recorder, or was cut off: it counts as a file without metadata.
    return undefined
  } finally {
    input.dispose()
  }
}

/** Determines how much of a file is readable. @throws Error of the disk */
export async function wholePart(handle: FileHandle, container: SegmentFacts['container']): Promise<WholePart> {
  const { size } = await handle.stat()
  const state: ScanState = newScanState()
  const scan = container === 'mp4' ? scanMp4 : scanWebm
  try {
    await scan(new HeaderReader(handle, size), state, true)
  } catch (error) {
    // Format errors mark the end of the readable part; disk errors are rethrown.
    if (errorCode(error) !== '') throw error
  }
  let bytes = state.next
  let last = state.fragments.pop()
  while (last !== undefined && (await endsEmpty(handle, last.offset + last.bytes))) {
    bytes = last.offset
    last = state.fragments.pop()
  }
  return { bytes, size, durationMs: last === undefined ? 0 : (last.start + last.duration) * 1_000 }
}

/** Number of bytes at the end of a fragment that are never all zero in media. */
const tailBytes = 32

/**
 * Whether the bytes before `end` were never written: after a power cut, some file systems return zeros for data that
 * was not written.
 */
async function endsEmpty(handle: FileHandle, end: number): Promise<boolean> {
  const tail = Buffer.alloc(Math.min(tailBytes, end), 1)
  await handle.read(tail, 0, tail.length, end - tail.length)
  return tail.every((byte) => byte === 0)
}

/**
 * Reads a complete segment from its file alone; undefined: the file does not exist or is not a recording.
 * @param file path below the folder. It replaces the path in the metadata, because the file may have been moved
 * @param end reason for the end of the segment, which the metadata does not contain
 * @throws PathError; Error of the disk
 */
export async function readSegment(
  folder: string,
  file: string,
  end: Segment['end'] = 'length',
): Promise<Segment | undefined> {
  const handle = await openInside(folder, recordedPath(folder, file)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
    return undefined
  })
  if (handle === undefined) return undefined
  try {
    const facts = await readSegmentFacts(handle)
    if (facts === undefined) return undefined
    const { size, durationMs } = await wholePart(handle, facts.container)
    return { ...facts, file, endedAt: facts.startedAt + durationMs, bytes: size, end }
  } finally {
    await handle.close()
  }
}

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

/** Result for a file left open by its process. */
export interface RepairedFile {
  /** Playable segment; undefined: no part of the file can be played. */
  segment: Segment | undefined
  /** Whether the file was cut off and is now repaired. */
  wasCut: boolean
}

/** Completes a file left open by its process. Never rejects. @param folder the recordings folder */
export async function repairOpen(folder: string, segment: SegmentStart, logger: NodeLogger): Promise<RepairedFile> {
  const { file, container, startedAt } = segment
  try {
    const path = recordedPath(folder, file)
    if (await isReadable(folder, path)) {
      const complete = await readSegment(folder, file, 'cut')
      return { segment: complete === undefined ? undefined : { ...complete, ...segment }, wasCut: false }
    }
    if (!(await isReadable(folder, withSuffix(path, partSuffix)))) return { segment: undefined, wasCut: false }
    const repaired = await repairFile(folder, { file, container, startedAt: Math.round(startedAt), isPart: true })
    if (repaired.outcome === 'repaired') {
      const { segment: found } = repaired
      // The start in the index is more precise than the start in the file name.
      const endedAt = startedAt + (found.endedAt - found.startedAt)
      return { segment: { ...found, ...segment, endedAt }, wasCut: true }
    }
    if (repaired.outcome === 'damaged')
      logger.warn({ file }, 'a recording that was cut off cannot be played, and was set aside')
  } catch (error) {
    logger.error({ err: error, file }, 'a recording that was cut off could not be repaired')
  }
  return { segment: undefined, wasCut: false }
}

/** Repairs a file that was cut off. @throws Error of the disk */
async function repairFile(folder: string, { file, container, startedAt }: FoundFile): Promise<Repaired> {
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

async function isReadable(folder: string, path: OwnPath): Promise<boolean> {
  return await sizeInside(folder, path).then(
    () => true,
    () => false,
  )
}
