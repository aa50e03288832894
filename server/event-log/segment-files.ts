import { type FileHandle, open, rm } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import type { EventEntry } from '../../shared/console/events.ts'
import { syncFolder } from '../store/files/durable-files.ts'
import { isAnotherDay, type Segment, segmentName } from './segments.ts'

/** The files of the log: the last one is written to, the oldest ones are removed. */
export class SegmentFiles {
  readonly #folder: string
  readonly #segments: Segment[]
  /** Bytes after which a segment ends. */
  readonly #maxBytes: number
  /** The last segment is whole to its end: the next entry may stand in it. */
  #goesOn: boolean
  #handle: FileHandle | undefined

  constructor(folder: string, segments: Segment[], goesOn: boolean, maxBytes: number) {
    this.#folder = folder
    this.#segments = segments
    this.#goesOn = goesOn
    this.#maxBytes = maxBytes
  }

  /** The segments from the oldest to the newest. */
  get all(): readonly Segment[] {
    return this.#segments
  }

  /** Whether the last segment is open, so that it may hold what is not synced. */
  get isOpen(): boolean {
    return this.#handle !== undefined
  }

  /** Whether entries that begin with this one belong into the last segment: another day, or the size of a segment, begins the next one. */
  takes(first: EventEntry): boolean {
    const last = this.#segments.at(-1)
    return last !== undefined && this.#goesOn && last.bytes < this.#maxBytes && !isAnotherDay(last.at, first.at)
  }

  /** Begins the segment of this entry. @throws what the file system says */
  async begin(first: EventEntry): Promise<void> {
    await this.close()
    const segment = { name: segmentName(first.seq), first: first.seq, bytes: 0, at: first.at, prev: first.prev }
    // A segment of this name holds nothing that the seal covers.
    if (this.#segments.at(-1)?.first === segment.first) this.#segments.pop()
    this.#handle = await open(insideOf(this.#folder, segment.name), 'w', 0o600)
    await syncFolder(this.#folder)
    this.#segments.push(segment)
    this.#goesOn = true
  }

  /** Writes behind the end of the last segment. @throws what the file system says; then nothing of it is there */
  async write(bytes: Buffer): Promise<void> {
    const segment = this.#segments.at(-1)
    if (segment === undefined) throw new Error('The event log has no segment.')
    this.#handle ??= await open(insideOf(this.#folder, segment.name), 'r+')
    try {
      await writeAll(this.#handle, bytes, segment.bytes)
    } catch (error) {
      // A part of a line must not stand before the next one.
      await this.#handle.truncate(segment.bytes).catch(() => undefined)
      throw error
    }
    segment.bytes += bytes.length
  }

  /** Syncs what was written. @throws what the file system says */
  async sync(): Promise<void> {
    await this.#handle?.datasync()
  }

  /** Removes the oldest segments. @throws what the file system says */
  async remove(count: number): Promise<void> {
    for (const { name } of this.#segments.splice(0, count)) await rm(insideOf(this.#folder, name), { force: true })
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }
}

/** A write may take a part only. @throws what the file system says */
async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
