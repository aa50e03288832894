import { type FileHandle, open, stat } from 'node:fs/promises'
import { join, normalize, sep } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { ByteSource } from './byte-source.ts'

/** A segment as the index names it; one that is being written has neither size nor place. */
export type SegmentPlace = Pick<SegmentStart, 'file'> & Partial<Pick<IndexedSegment, 'stored' | 'bytes'>>

/** A segment that can be read. */
export interface LocatedSegment {
  size: number
  /** It is being written. */
  growing: boolean
  open: () => Promise<ByteSource>
}

/** Reads segments that are in object storage alone. @throws ObjectError */
export interface RemoteSegments {
  open(file: string, size: number): Promise<ByteSource>
  /** Path of a copy of the whole on this disk, which may be deleted after a while. */
  copy(file: string, size: number, signal: AbortSignal): Promise<string>
}

/** Segments of a recordings folder, wherever they are: on the disk, being written, or in object storage. */
export class SegmentFiles {
  readonly folder: string
  readonly #remote: RemoteSegments | undefined

  /** @param remote left out: everything is on the disk */
  constructor(folder: string, remote?: RemoteSegments) {
    this.folder = folder
    this.#remote = remote
  }

  /** Finds a segment. @throws Error with the code ENOENT where there is none; ObjectError */
  async locate(segment: SegmentPlace): Promise<LocatedSegment> {
    const found = await this.#local(segment)
    if (found !== undefined) {
      const { path, size, growing } = found
      return { size, growing, open: () => openSegment(path) }
    }
    const { remote, size } = this.#inStorage(segment)
    return { size, growing: false, open: () => remote.open(segment.file, size) }
  }

  /** Path of a file with the whole segment, for programs that read files. @throws as `locate` does */
  async pathOf(segment: SegmentPlace, signal: AbortSignal): Promise<string> {
    const found = await this.#local(segment)
    if (found !== undefined) return found.path
    const { remote, size } = this.#inStorage(segment)
    return await remote.copy(segment.file, size, signal)
  }

  async #local(segment: SegmentPlace): Promise<Awaited<ReturnType<typeof locate>> | undefined> {
    try {
      return await locate(this.folder, segment.file)
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || this.#remote === undefined || (segment.stored ?? 'local') === 'local')
        throw error
      return undefined
    }
  }

  #inStorage({ bytes }: SegmentPlace): { remote: RemoteSegments; size: number } {
    if (this.#remote === undefined || bytes === undefined) throw new Error('the segment is not in object storage')
    return { remote: this.#remote, size: bytes }
  }
}

/**
 * Opens a file that was found. One that was being written may have its final name by now; what was read of it stays true.
 * @throws Error with the code ENOENT when it is gone
 */
export async function openSegment(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (!path.endsWith(partSuffix) || !hasCode(error, 'ENOENT')) throw error
    return await open(path.slice(0, -partSuffix.length), 'r')
  }
}

/**
 * Finds the file of a segment on the disk, under its final name or the one of a file that is being written.
 * @throws when there is none
 */
export async function locate(folder: string, file: string): Promise<{ path: string; size: number; growing: boolean }> {
  const path = normalize(join(folder, file))
  if (!path.startsWith(normalize(folder + sep))) throw new Error('the path of a segment leaves the recordings folder')
  const whole = await stat(path).catch(() => undefined)
  if (whole !== undefined) return { path, size: whole.size, growing: false }
  const part = await stat(path + partSuffix).catch(() => undefined)
  if (part !== undefined) return { path: path + partSuffix, size: part.size, growing: true }
  // Renamed between the two looks.
  const { size } = await stat(path)
  return { path, size, growing: false }
}
