import type { FileHandle } from 'node:fs/promises'
import { hasCode } from '../../../shared/error-code.ts'
import { type OwnPath, PathError, withSuffix } from '../../../shared/files/own-path.ts'
import { openInside, sizeInside } from '../../../shared/files/real-path.ts'
import { recordedPath } from '../../../shared/files/recorded-path.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { ByteSource } from './byte-source.ts'

/** A segment as the index names it; one that is being written has neither size nor place. */
export type SegmentPlace = Pick<SegmentStart, 'file'> & Partial<Pick<IndexedSegment, 'id' | 'stored' | 'bytes'>>

/** A segment that can be read. */
export interface LocatedSegment {
  size: number
  /** It is being written. */
  growing: boolean
  open: () => Promise<ByteSource>
}

/** A segment on the disk. */
export interface LocalSegment extends LocatedSegment {
  path: OwnPath
  open: () => Promise<FileHandle>
}

/** A whole segment in a file, for programs that read files. */
export interface WholeFile {
  path: OwnPath
  open: () => Promise<FileHandle>
}

/** Reads segments that are in object storage alone. @throws ObjectError */
export interface RemoteSegments {
  open(file: string, size: number): Promise<ByteSource>
  /** A copy of the whole on this disk, which may be deleted after a while. */
  copy(file: string, size: number, signal: AbortSignal): Promise<WholeFile>
}

/** Segments of a recordings folder, wherever they are: on the disk, being written, or in object storage. */
export class SegmentFiles {
  readonly folder: string
  readonly #remote: RemoteSegments | undefined
  readonly #doubtful: (id: number) => void

  /**
   * @param remote left out: everything is on the disk
   * @param doubtful receives the id of a finished segment whose file was not found on the disk, or is not as it was written
   */
  constructor(folder: string, remote?: RemoteSegments, doubtful: (id: number) => void = () => {}) {
    this.folder = folder
    this.#remote = remote
    this.#doubtful = doubtful
  }

  /** Finds a segment. @throws Error with the code ENOENT where there is none; PathError; ObjectError */
  async locate(segment: SegmentPlace): Promise<LocatedSegment> {
    const found = await this.#local(segment)
    if (found !== undefined) return found
    const { remote, size } = this.#inStorage(segment)
    return { size, growing: false, open: () => remote.open(segment.file, size) }
  }

  /** A file with the whole segment. @throws as `locate` does */
  async fileOf(segment: SegmentPlace, signal: AbortSignal): Promise<WholeFile> {
    const found = await this.#local(segment)
    if (found !== undefined) return found
    const { remote, size } = this.#inStorage(segment)
    return await remote.copy(segment.file, size, signal)
  }

  /** Notes that the file of a segment does not hold what it should. */
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

/** Whether a file is shorter than the finished segment that was written to it. */
export function isCutOff({ size, growing }: LocatedSegment, { stored, bytes = 0 }: SegmentPlace): boolean {
  return stored === 'local' && !growing && size < bytes
}

/**
 * Finds the file of a segment on the disk, under its final name or the one of a file that is being written. One that was being written may have its final name by the time it is
 * opened; what was read of it stays true.
 * @throws Error with the code ENOENT where there is none; PathError the path leaves the folder, or there is a link
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
  // Renamed between the two looks.
  return { path, size: await sizeInside(folder, path), growing: false, open }
}

function withoutMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined
  throw error
}
