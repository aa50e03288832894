import { randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { makeInside, openInside, removeInside } from '../../../shared/files/real-path.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { ByteSource } from '../playback/byte-source.ts'
import type { RemoteSegments, WholeFile } from '../playback/segment-sources.ts'
import type { ObjectPart } from './object-client.ts'
import { ObjectError } from './object-error.ts'

/** Number of bytes read from the storage per request. */
const blockBytes = 512 * 1024
/** Number of blocks read ahead: media is mostly read in order. */
const ahead = 3
/** Total size of all copies, in bytes. */
const maxBytes = 1_000_000_000

/** Reads a part of an object. @throws ObjectError */
export type ReadObject = (file: string, offset: number, bytes: number, signal?: AbortSignal) => Promise<ObjectPart>

/** Copy on the disk of the parts of an object read so far. */
interface Copy {
  path: OwnPath
  handle: FileHandle
  size: number
  /** Blocks that are on the disk or being read. */
  blocks: Map<number, Promise<void>>
  readers: number
  dropped: boolean
}

/**
 * Reads ranges of objects through a folder of partial copies with limited size. The folder is emptied at each start of
 * the program.
 */
export class ObjectCache implements RemoteSegments {
  readonly #recordings: string
  readonly #folder: OwnPath
  readonly #read: ReadObject
  readonly #copies: LRUCache<string, Promise<Copy>>
  #ready: Promise<void> | undefined

  /**
   * @param recordings recordings folder; its subfolder for the copies is emptied
   * @param limit total size of all copies, in bytes
   */
  constructor(recordings: string, read: ReadObject, limit = maxBytes) {
    this.#recordings = recordings
    this.#folder = insideOf(recordings, '.objects')
    this.#read = read
    this.#copies = new LRUCache({
      maxSize: limit,
      sizeCalculation: (_, key) => Math.min(limit, Math.max(1, Number(key.slice(0, key.indexOf(' '))))),
      // The copy is dropped in any case; readers of the block receive the error.
      dispose: (copy) => void copy.then((made) => this.#drop(made)).catch(() => {}),
    })
  }

  async open(file: string, size: number): Promise<ByteSource> {
    let copy = await this.#copyOf(file, size)
    // The copy was removed from the cache while this call waited for it.
    if (copy.dropped) copy = await this.#copyOf(file, size)
    copy.readers += 1
    let closed = false
    return {
      read: async (buffer, offset, length, position) =>
        await this.#readFrom(copy, file, buffer, offset, length, position),
      close: async () => {
        if (closed) return
        closed = true
        copy.readers -= 1
        await this.#discard(copy)
      },
    }
  }

  async copy(file: string, size: number, signal: AbortSignal): Promise<WholeFile> {
    const copy = await this.#copyOf(file, size)
    for (let block = 0; block * blockBytes < size; block++) {
      signal.throwIfAborted()
      await this.#have(copy, file, block)
    }
    return { path: copy.path, open: () => openInside(this.#recordings, copy.path) }
  }

  async close(): Promise<void> {
    this.#copies.clear()
    await this.#ready
    await removeInside(this.#recordings, this.#folder, { recursive: true })
  }

  async #copyOf(file: string, size: number): Promise<Copy> {
    const key = `${size} ${file}`
    const held = this.#copies.get(key)
    if (held !== undefined) return await held
    const made = this.#make(size)
    this.#copies.set(key, made)
    // The caller receives the error; the next call retries.
    made.catch(() => this.#copies.delete(key))
    return await made
  }

  async #make(size: number): Promise<Copy> {
    await (this.#ready ??= this.#empty())
    const path = insideOf(this.#folder, randomUUID())
    const handle = await open(path, 'wx+', 0o600)
    return { path, handle, size, blocks: new Map(), readers: 0, dropped: false }
  }

  async #empty(): Promise<void> {
    await removeInside(this.#recordings, this.#folder, { recursive: true })
    await makeInside(this.#recordings, this.#folder, 0o700)
  }

  async #readFrom(
    copy: Copy,
    file: string,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }> {
    const wanted = Math.max(0, Math.min(length, copy.size - position))
    if (wanted === 0) return { bytesRead: 0 }
    const last = Math.floor((position + wanted - 1) / blockBytes)
    const needed: Promise<void>[] = []
    for (let block = Math.floor(position / blockBytes); block <= last; block++)
      needed.push(this.#have(copy, file, block))
    for (let block = last + 1; block <= last + ahead && block * blockBytes < copy.size; block++)
      // A block that is read ahead may fail; readers of the block receive the error.
      this.#have(copy, file, block).catch(() => {})
    await Promise.all(needed)
    return await copy.handle.read(buffer, offset, wanted, position)
  }

  /** Resolves when a block is on the disk. A failed block is read again by the next call. */
  async #have(copy: Copy, file: string, block: number): Promise<void> {
    const held = copy.blocks.get(block)
    if (held !== undefined) return await held
    const fetched = this.#fetch(copy, file, block * blockBytes)
    copy.blocks.set(block, fetched)
    // The caller receives the error; the next call retries.
    fetched.catch(() => copy.blocks.delete(block))
    return await fetched
  }

  async #fetch(copy: Copy, file: string, offset: number): Promise<void> {
    const { bytes, size } = await this.#read(file, offset, Math.min(blockBytes, copy.size - offset))
    if (size !== copy.size) throw new ObjectError('mismatch', `${size} of ${copy.size} bytes`)
    await copy.handle.write(bytes, 0, bytes.length, offset)
  }

  /** Removes a copy from the cache; its current readers may continue to the end. */
  #drop(copy: Copy): void {
    copy.dropped = true
    mustNotFail(this.#discard(copy))
  }

  async #discard(copy: Copy): Promise<void> {
    if (!copy.dropped || copy.readers > 0) return
    await Promise.allSettled(copy.blocks.values())
    if (copy.readers > 0) return
    // The copy is dropped in any case.
    await copy.handle.close().catch(() => {})
    // The next start removes a remaining file.
    await removeInside(this.#recordings, copy.path).catch(() => {})
  }
}
