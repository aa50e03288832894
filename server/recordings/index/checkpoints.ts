import { Worker } from 'node:worker_threads'
import { mustNotFail } from '../../../shared/unawaited.ts'

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
export class Checkpoints {
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
