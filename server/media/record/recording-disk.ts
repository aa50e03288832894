import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Turns } from './turns.ts'
import { DiskFile, type DiskTrouble } from './disk-file.ts'
import { DiskHealth } from './disk-health.ts'

/** Interval at which all that is new is written and synced, in milliseconds: a quarter of what a power cut may take besides a group of pictures, since a busy machine is late. */
const syncEveryMs = 250
/** Threads of Node for the disk (libuv: four unless it is told otherwise). Most wait for syncs; writes, which mostly take no time, and others have the rest. */
const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
const maxSyncs = Math.max(1, threads - Math.max(2, Math.floor(threads / 4)))
/**
 * The folder of recordings. Everything new of all files is written and synced four times a second, so that a power cut loses at most a second. A slow disk makes files wait in bounded memory;
 * it never delays those who append.
 */
export class RecordingDisk {
  readonly folder: string
  readonly #dirty = new Set<DiskFile>()
  /** Folders whose names changed since their last sync. */
  readonly #folders = new Set<string>()
  /** Files that are not complete. */
  readonly #begun = new Set<string>()
  readonly #timer: NodeJS.Timeout
  readonly #syncs = new Turns(maxSyncs)
  readonly #health: DiskHealth
  /** Files that were written since their last sync. */
  readonly #unsynced = new Set<DiskFile>()
  #writing: Promise<void> | undefined
  #syncing: Promise<void> | undefined

  /** @param report logs an error of the disk */
  constructor(folder: string, report: (message: string, error: unknown) => void) {
    this.folder = folder
    this.#health = new DiskHealth(report)
    this.#timer = setInterval(() => void this.sync(), syncEveryMs).unref()
  }

  /** Why no new file should be begun now; undefined: one may be. */
  get trouble(): DiskTrouble | undefined {
    return this.#health.trouble
  }

  /** Whether a file of this path is being written. */
  has(path: string): boolean {
    return this.#begun.has(join(this.folder, path))
  }

  /**
   * Begins a file.
   * @param path below the folder, without the suffix that it has while it is written
   */
  create(path: string): DiskFile {
    const whole = join(this.folder, path)
    this.#begun.add(whole)
    return new DiskFile(whole, {
      ended: () => void this.#begun.delete(whole),
      sync: (operation) => this.#syncs.run(operation),
      changed: (file) => void this.#dirty.add(file),
      waits: (bytes) => this.#health.waits(bytes),
      named: (folder) => void this.#folders.add(folder),
      failed: (path, error) => this.#health.failed(path, error),
    })
  }

  /** Writes and syncs everything new. Never rejects. */
  async sync(): Promise<void> {
    await (this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    }))
    // A slow sync keeps nothing from being written.
    await (this.#syncing ??= this.#syncAll().finally(() => {
      this.#syncing = undefined
    }))
  }

  /** Stops the timer; files are closed by their owners before. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.sync()
    await this.sync()
  }

  /** All of it is written before the first sync: that one then takes the names and sizes of all along. */
  async #writeAll(): Promise<void> {
    const files = [...this.#dirty]
    this.#dirty.clear()
    await Promise.all(files.map((file) => file.write()))
    for (const file of files) this.#unsynced.add(file)
  }

  /** Goes on while files were written meanwhile: on a slow disk they would wait for the next interval, too. */
  async #syncAll(): Promise<void> {
    while (this.#unsynced.size + this.#folders.size > 0) {
      const files = [...this.#unsynced]
      this.#unsynced.clear()
      await Promise.all(files.map((file) => file.sync()))
      const folders = [...this.#folders]
      this.#folders.clear()
      await Promise.all(folders.map((folder) => this.#syncs.run(() => syncFolder(folder)).catch(() => {})))
    }
  }
}

/** A folder's names are durable once it is synced; Windows does not know that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
