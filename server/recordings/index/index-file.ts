import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { insideOf, withSuffix } from '../../../shared/files/own-path.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { renameFileSync } from '../../store/system/rename-file.ts'
import { companions, indexFile, isDamage } from './index-folder.ts'
import { inIndexTransaction, prepareSchema } from './index-tables.ts'
import { StreamIds } from './stream-ids.ts'

interface OpenDatabase {
  database: DatabaseSync
  ids: StreamIds
  checkpoints: Checkpoints
}

/** SQLite file of an index. A damaged file is renamed, and the failed call is repeated on an empty file. */
export class IndexFile {
  readonly #folder: string
  readonly #onDamage: (reason: string) => void
  #open: OpenDatabase
  #isNew: boolean
  /** Called after segments or gaps of streams changed. */
  readonly listeners = new Set<(streams: readonly RecordedStream[]) => void>()

  /**
   * @param onDamage called when a damaged file was replaced by an empty file
   * @throws Error if the folder is not writable
   */
  constructor(folder: string, onDamage: (reason: string) => void) {
    this.#folder = folder
    this.#onDamage = onDamage
    const { opened, made } = openOrReplace(folder, onDamage)
    this.#open = opened
    this.#isNew = made
  }

  /** Whether the file was new or damaged, so that the index does not contain the existing recordings. */
  get isNew(): boolean {
    return this.#isNew
  }

  /** Ids of the streams in the open database. */
  get ids(): StreamIds {
    return this.#open.ids
  }

  /** Returns a function that returns the result of `prepare` for the open database, e.g. prepared statements. */
  prepared<T>(prepare: (database: DatabaseSync) => T): () => T {
    let made = this.read(() => prepare(this.#open.database))
    let { database } = this.#open
    return () => {
      if (database !== this.#open.database) {
        database = this.#open.database
        made = prepare(database)
      }
      return made
    }
  }

  /** Runs a query. If the file is damaged, runs the query again on an empty file. @throws Error of SQLite */
  read<T>(query: () => T): T {
    try {
      return query()
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#replace(error)
      return query()
    }
  }

  /**
   * Runs a change as one transaction. If the file is damaged, runs the change again on an empty file.
   * @throws Error of SQLite
   */
  write<T>(change: () => T): T {
    try {
      const result = this.read(() => inIndexTransaction(this.#open.database, change))
      this.#open.checkpoints.changed()
      return result
    } catch (error) {
      // Stream ids assigned by the failed change are invalid.
      this.ids.forget()
      throw error
    }
  }

  close(): void {
    this.listeners.clear()
    close(this.#open)
  }

  #replace(error: unknown): void {
    try {
      close(this.#open)
    } finally {
      setAside(this.#folder)
      this.#open = openDatabase(this.#folder).opened
      this.#isNew = true
    }
    this.#onDamage(error instanceof Error ? error.message : String(error))
  }
}

function close({ checkpoints, database }: OpenDatabase): void {
  checkpoints.close()
  database.close()
}

function openDatabase(folder: string): { opened: OpenDatabase; made: boolean } {
  const path = insideOf(folder, indexFile)
  const database = new DatabaseSync(path, { timeout: 2_000 })
  try {
    const made = prepareSchema(database)
    return { opened: { database, ids: new StreamIds(database), checkpoints: new Checkpoints(path) }, made }
  } catch (error) {
    database.close()
    throw error
  }
}

function openOrReplace(folder: string, onDamage: (reason: string) => void): { opened: OpenDatabase; made: boolean } {
  try {
    return openDatabase(folder)
  } catch (error) {
    if (!isDamage(error)) throw error
    setAside(folder)
    onDamage(error instanceof Error ? error.message : String(error))
    return openDatabase(folder)
  }
}

/** Renames the damaged file for later analysis, and deletes a previously renamed file. */
function setAside(folder: string): void {
  for (const companion of companions) {
    const file = insideOf(folder, `${indexFile}${companion}`)
    if (companion === '') {
      const aside = withSuffix(file, '.damaged')
      rmSync(aside, { force: true })
      renameFileSync(file, aside)
    } else rmSync(file, { force: true })
  }
}

/** Number of changes between two checkpoints of the write-ahead log, equal to a few megabytes. */
const everyChanges = 1_000
/** Maximum time that closing waits for a checkpoint, in milliseconds. */
const closeMs = 10_000

/**
 * Code of the worker thread, which makes each checkpoint over a new connection. As text, the code runs from sources, a
 * bundle and an archive alike. Errors are ignored, because the next change causes the same error.
 */
const program = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData: { path, busy } } = require('node:worker_threads')
  parentPort.on('message', () => {
    try {
      const database = new DatabaseSync(path)
      try { database.exec('PRAGMA wal_checkpoint(PASSIVE)') } finally { database.close() }
    } catch {}
    Atomics.store(busy, 0, 0)
    Atomics.notify(busy, 0)
  })`

/**
 * Makes checkpoints of the index's write-ahead log in a thread. On a busy disk a checkpoint takes a second, which would
 * block the controller.
 */
class Checkpoints {
  readonly #path: string
  /** Flag shared with the thread; 1: a checkpoint is running. */
  readonly #busy = new Int32Array(new SharedArrayBuffer(4))
  #worker: Worker | undefined
  #changes = 0

  /** @param path path of the SQLite file */
  constructor(path: string) {
    this.#path = path
  }

  /** Counts a change, and starts a checkpoint if one is due. */
  changed(): void {
    this.#changes += 1
    if (this.#changes < everyChanges || Atomics.load(this.#busy, 0) === 1) return
    this.#changes = 0
    Atomics.store(this.#busy, 0, 1)
    this.#worker ??= this.#start()
    this.#worker.postMessage(null)
  }

  /** Ends the thread after the current checkpoint, so that the thread cannot access the file afterwards. */
  close(): void {
    if (this.#worker === undefined) return
    Atomics.wait(this.#busy, 0, 1, closeMs)
    mustNotFail(this.#worker.terminate())
    this.#worker = undefined
  }

  #start(): Worker {
    const worker = new Worker(program, { eval: true, workerData: { path: this.#path, busy: this.#busy } })
    worker.unref()
    const ended = (): void => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      Atomics.store(this.#busy, 0, 0)
    }
    // Without the worker, SQLite makes checkpoints of a long log in the main thread.
    return worker.once('error', ended).once('exit', ended)
  }
}
