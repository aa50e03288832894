import type { FileHandle } from 'node:fs/promises'
import { hasCode } from '../../../shared/error-code.ts'
import { type OwnPath, PathError, withSuffix } from '../../../shared/files/own-path.ts'
import { openInside, sizeInside } from '../../../shared/files/real-path.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { ByteSource } from './byte-source.ts'

/** Reference to a segment in the index; an open segment has neither size nor place. */
export type SegmentPlace = Pick<SegmentStart, 'file'> & Partial<Pick<IndexedSegment, 'id' | 'stored' | 'bytes'>>

/** Segment that can be read. */
export interface LocatedSegment {
  size: number
  /** Whether the segment is being written. */
  growing: boolean
  open: () => Promise<ByteSource>
}

/** Segment on the disk. */
export interface LocalSegment extends LocatedSegment {
  path: OwnPath
  open: () => Promise<FileHandle>
}

/** File with a whole segment, for programs that read files. */
export interface WholeFile {
  path: OwnPath
  open: () => Promise<FileHandle>
}

/** Reads segments that are only in object storage. @throws ObjectError */
export interface RemoteSegments {
  open(file: string, size: number): Promise<ByteSource>
  /** Copies the whole segment to this disk; the copy may be deleted after a while. */
  copy(file: string, size: number, signal: AbortSignal): Promise<WholeFile>
}

/** Segments of a recordings folder: complete and open files on the disk, and objects in object storage. */
export class SegmentFiles {
  readonly folder: string
  readonly #remote: RemoteSegments | undefined
  readonly #doubtful: (id: number) => void

  /**
   * @param remote undefined: all segments are on the disk
   * @param doubtful receives the id of a finished segment whose file is missing or was modified
   */
  constructor(folder: string, remote?: RemoteSegments, doubtful: (id: number) => void = () => {}) {
    this.folder = folder
    this.#remote = remote
    this.#doubtful = doubtful
  }

  /** Finds a segment. @throws Error with the code ENOENT if it does not exist; PathError; ObjectError */
  async locate(segment: SegmentPlace): Promise<LocatedSegment> {
    const found = await this.#local(segment)
    if (found !== undefined) return found
    const { remote, size } = this.#inStorage(segment)
    return { size, growing: false, open: () => remote.open(segment.file, size) }
  }

  /** Returns a file with the whole segment. @throws the errors of `locate` */
  async fileOf(segment: SegmentPlace, signal: AbortSignal): Promise<WholeFile> {
    const found = await this.#local(segment)
    if (found !== undefined) return found
    const { remote, size } = this.#inStorage(segment)
    return await remote.copy(segment.file, size, signal)
  }

  /** Reports that the file of a segment does not contain the expected media. */
  doubt({ id, stored }: SegmentPlace): void {
    if (stored === 'local' && id !== undefined) this.#doubtful(id)
  }

  async #local(segment: SegmentPlace): Promise<LocalSegment | undefined> {
    try {
      const found = await locate(this.folder, segment.file)
      if (isCutOff(found, segment)) this.doubt(segment)
      return found
    } catch (error) {
      if (hasCode(error, 'ENOENT') || error instanceof PathError) this.doubt(segment)
      if (!hasCode(error, 'ENOENT')) throw error
      if (this.#remote === undefined || (segment.stored ?? 'local') === 'local') throw error
      return undefined
    }
  }

  #inStorage({ bytes }: SegmentPlace): { remote: RemoteSegments; size: number } {
    if (this.#remote === undefined || bytes === undefined) throw new Error('the segment is not in object storage')
    return { remote: this.#remote, size: bytes }
  }
}

/** Whether a file is shorter than the finished segment written to it. */
export function isCutOff({ size, growing }: LocatedSegment, { stored, bytes = 0 }: SegmentPlace): boolean {
  return stored === 'local' && !growing && size < bytes
}

/**
 * Finds the file of a segment on the disk, under its final name or the name of an open file. An open file may be
 * renamed to its final name before `open` is called; handles that are already open stay valid.
 * @throws Error with the code ENOENT if it does not exist; PathError if the path leaves the folder or contains a link
 */
export async function locate(folder: string, file: string): Promise<LocalSegment> {
  const path = recordedPath(folder, file)
  const part = withSuffix(path, partSuffix)
  const open = (): Promise<FileHandle> => openInside(folder, path)
  const size = await sizeInside(folder, path).catch(withoutMissing)
  if (size !== undefined) return { path, size, growing: false, open }
  const partSize = await sizeInside(folder, part).catch(withoutMissing)
  if (partSize !== undefined) {
    const openPart = async (): Promise<FileHandle> => (await openInside(folder, part).catch(withoutMissing)) ?? open()
    return { path: part, size: partSize, growing: true, open: openPart }
  }
  // The file was renamed between the two checks.
  return { path, size: await sizeInside(folder, path), growing: false, open }
}

function withoutMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined
  throw error
}
