import { Worker } from 'node:worker_threads'
import { mustNotFail } from '../../../shared/unawaited.ts'

/** Changes after which what is in the write-ahead log is brought into the file: some megabytes. */
const everyChanges = 1_000
/** Time that closing waits for a checkpoint, in milliseconds. */
const closeMs = 10_000

/**
 * Program of the thread: brings the log into the file with a connection of its own, and closes it again. It is text, so that it runs from sources, a bundle and an archive alike. An error is met by the next change, too.
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

/** Brings the write-ahead log of the index into its file in a thread: on a busy disk that takes a second, for which the controller would answer nobody. */
export class Checkpoints {
  readonly #path: string
  /** 1: a checkpoint is under way. */
  readonly #busy = new Int32Array(new SharedArrayBuffer(4))
  #worker: Worker | undefined
  #changes = 0

  /** @param path of the SQLite file */
  constructor(path: string) {
    this.#path = path
  }

  /** Something was changed. */
  changed(): void {
    this.#changes += 1
    if (this.#changes < everyChanges || Atomics.load(this.#busy, 0) === 1) return
    this.#changes = 0
    Atomics.store(this.#busy, 0, 1)
    this.#worker ??= this.#start()
    this.#worker.postMessage(null)
  }

  /** Ends the thread, after its checkpoint: nothing of it may touch the file behind this. */
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
    // SQLite itself brings a long log into the file, in this thread.
    return worker.once('error', ended).once('exit', ended)
  }
}
