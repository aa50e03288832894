import type { FileHandle } from 'node:fs/promises'
import type { Source } from 'mediabunny'
import { errorCode, hasCode } from '../../../shared/error-code.ts'
import { openInside } from '../../../shared/files/real-path.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { type Segment, type SegmentFacts, storedFactsSchema } from '../../../shared/recordings/segment.ts'
import { type ByteSource, HeaderReader } from '../playback/byte-source.ts'
import { newScanState } from '../playback/fragment-table.ts'
import type { ScanState } from '../playback/fragments.ts'
import { scanMp4 } from '../playback/mp4-scan.ts'
import { scanWebm } from '../playback/webm-scan.ts'

/** Readable part of a file, up to the position where it was cut off or damaged. */
export interface WholePart {
  /** Number of readable bytes from the beginning. */
  bytes: number
  /** Size of the file in bytes. */
  size: number
  /** Duration of the media, in milliseconds; 0: no media. */
  durationMs: number
}

/** Reads the metadata that the recorder wrote into a file; undefined if it contains none, or is not a recording. */
export async function readSegmentFacts(handle: FileHandle): Promise<SegmentFacts | undefined> {
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
