import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type OwnPath, withSuffix } from '../../../shared/files/own-path.ts'
import { onceFree } from '../../../shared/held-file.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'

/** Reason why the disk does not accept data. */
export type DiskTrouble = 'diskFull' | 'failed'

/** Result of a closed file. */
export interface WritableFile {
  /** Size of the file; 0: there is no file. */
  bytes: number
  /** Reason why bytes are missing on disk; undefined: all appended bytes are on disk. */
  trouble: DiskTrouble | undefined
}

/** Operations of the disk that a file uses. */
export interface DiskFileDependencies {
  /** Runs a sync when the limit of parallel syncs permits. */
  sync<T>(operation: () => Promise<T>): Promise<T>
  changed(file: DiskFile): void
  /** Called when all appended bytes are synced or discarded. */
  saved(file: DiskFile): void
  /**
   * Adds to the number of pending bytes of all files; written bytes are negative. Returns whether too many bytes are
   * pending.
   */
  waits(bytes: number): boolean
  named(folder: string): void
  failed(path: string, error: unknown): DiskTrouble
  ended(): void
}

/** An append-only file. Appended bytes are written to the disk with the next sync. */
export class DiskFile {
  readonly #path: OwnPath
  readonly #dependencies: DiskFileDependencies
  #handle: FileHandle | undefined
  #chunks: Uint8Array[] = []
  #whole = 0
  readonly #unsynced = new UnsyncedAppends()
  #syncing: Promise<void> | undefined
  #isWriteQueued = false
  /** Chain of the file's write operations. */
  #work: Promise<void> = Promise.resolve()
  #trouble: DiskTrouble | undefined

  constructor(path: OwnPath, dependencies: DiskFileDependencies) {
    this.#path = path
    this.#dependencies = dependencies
  }

  /** Reason why the file accepts no data; undefined: it accepts data. */
  get trouble(): DiskTrouble | undefined {
    return this.#trouble
  }

  /** Number of bytes in appends that are completely written. */
  get whole(): number {
    return this.#whole
  }

  /** Time of the oldest unsynced append, in milliseconds of a monotonic clock; undefined: all are synced. */
  get oldestAt(): number | undefined {
    return this.#unsynced.oldestAt
  }

  /** Appends bytes, which the file owns from now on. A file that ends after a complete append is readable. */
  append(bytes: Uint8Array): void {
    if (this.#trouble !== undefined) return
    this.#chunks.push(bytes)
    this.#unsynced.add(bytes.length, performance.now())
    this.#dependencies.changed(this)
    if (this.#dependencies.waits(bytes.length)) this.#fail(new Error('the disk is too slow'))
  }

  /** Writes all pending bytes. Never rejects. */
  write(): Promise<void> {
    if (this.#isWriteQueued) return this.#work
    this.#isWriteQueued = true
    return this.#then(() => {
      this.#isWriteQueued = false
      return this.#write()
    })
  }

  /** Syncs all written bytes, including those written meanwhile; does not block writes. Never rejects. */
  sync(): Promise<void> {
    return (this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    }))
  }

  /** Closes the file and gives it its final name. Never rejects. */
  async close(): Promise<WritableFile> {
    await this.write()
    await this.#then(() => this.#finish())
    this.#dependencies.ended()
    this.#unsynced.clear()
    this.#dependencies.saved(this)
    return { bytes: this.#whole, trouble: this.#trouble }
  }

  #then(operation: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(operation).catch((error: unknown) => this.#fail(error))
    return this.#work
  }

  async #write(): Promise<void> {
    if (this.#trouble !== undefined || this.#chunks.length === 0) return
    const chunks = this.#chunks
    this.#chunks = []
    const bytes = lengthOf(chunks)
    try {
      const handle = (this.#handle ??= await this.#open())
      await writeAll(handle, chunks, this.#whole)
      this.#whole += bytes
    } finally {
      this.#dependencies.waits(-bytes)
    }
  }

  async #sync(): Promise<void> {
    for (let handle = this.#handle; handle !== undefined && this.#unsynced.has(this.#whole); handle = this.#handle) {
      const [open, whole] = [handle, this.#whole]
      try {
        await this.#dependencies.sync(() => open.datasync())
      } catch (error) {
        // If the file was closed meanwhile, `#finish` has synced it.
        if (this.#handle === open) this.#fail(error)
        return
      }
      if (this.#unsynced.synced(whole)) this.#dependencies.saved(this)
    }
  }

  async #open(): Promise<FileHandle> {
    const folder = dirname(this.#path)
    if ((await mkdir(folder, { recursive: true })) !== undefined) this.#dependencies.named(dirname(folder))
    this.#dependencies.named(folder)
    return await open(withSuffix(this.#path, partSuffix), 'wx', 0o640)
  }

  /** Truncates a partial append, so that the rest is readable. Removes an empty file. */
  async #finish(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    if (handle === undefined) return
    await this.#dependencies.sync(async () => {
      try {
        if (this.#trouble !== undefined) await handle.truncate(this.#whole)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      if (this.#whole === 0) await unlink(withSuffix(this.#path, partSuffix))
      else await onceFree(process.platform, () => rename(withSuffix(this.#path, partSuffix), this.#path))
    })
    this.#dependencies.named(dirname(this.#path))
  }

  #fail(error: unknown): void {
    this.#trouble ??= this.#dependencies.failed(this.#path, error)
    this.#dependencies.waits(-lengthOf(this.#chunks))
    this.#chunks = []
    this.#unsynced.clear()
    this.#dependencies.saved(this)
  }
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0)
}

/** Writes all chunks, even if the system accepts only a part per call. */
async function writeAll(handle: FileHandle, chunks: Uint8Array[], position: number): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks, position)
  if (bytesWritten === lengthOf(chunks)) return
  const rest = Buffer.concat(chunks).subarray(bytesWritten)
  for (let at = 0; at < rest.length; ) {
    const { bytesWritten: more } = await handle.write(rest, at, rest.length - at, position + bytesWritten + at)
    if (more === 0) throw new Error('the disk takes nothing')
    at += more
  }
}

/** Unsynced appends of a file, oldest first. Times are milliseconds of a monotonic clock. */
class UnsyncedAppends {
  #end = 0
  #appends: { end: number; at: number }[] = []

  /** Time of the oldest unsynced append; undefined: all are synced. */
  get oldestAt(): number | undefined {
    return this.#appends[0]?.at
  }

  add(bytes: number, at: number): void {
    this.#end += bytes
    this.#appends.push({ end: this.#end, at })
  }

  /** Whether an unsynced append lies completely within the first `bytes` of the file. */
  has(bytes: number): boolean {
    return (this.#appends[0]?.end ?? Infinity) <= bytes
  }

  /** Records that the first `bytes` of the file are synced. Returns whether all appends are synced. */
  synced(bytes: number): boolean {
    this.#appends = this.#appends.filter(({ end }) => end > bytes)
    return this.#appends.length === 0
  }

  /** Clears the list when the file has failed or is complete. */
  clear(): void {
    this.#appends = []
  }
}
