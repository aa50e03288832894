import { onAbort } from '../../../shared/abort.ts'
import { type Away, type FlushGate, type Storage, StorageAwayError } from '../storage.ts'
import type { Change } from '../store.ts'
import { startTimer, type Timer, turn } from '../system/time.ts'
import { CommitQueue, type Committing, type WriteBehindQueue } from './write-queues.ts'
import { FlushProgress } from './flush-progress.ts'
import { encodeChanges } from './journal-line.ts'

export interface GroupCommitOptions<T extends Committing> extends CommitListener<T> {
  storage: Pick<Storage, 'append' | 'away' | 'onAway'>
  writeBehind: WriteBehindQueue
  /** Gate that can delay flushes; undefined: flushes start at once. */
  flushGate?: FlushGate | undefined
}

/** Maximum number of write-behind records in one line. */
const behindRecords = 256
/** Maximum delay before a write-behind change is written, in milliseconds; the contract permits 1 s. */
const behindAfter = 500
/** Interval of test writes to a storage that rejects writes, while there are no changes, in milliseconds. */
const probeAfter = 1_000

/**
 * Group commit: runs one flush at a time; changes that arrive meanwhile share the next flush.
 * Makes one write per turn of the event loop, so that changes of one turn are written together.
 */
export class GroupCommit<T extends Committing> {
  readonly #options: GroupCommitOptions<T>
  readonly #reports: CommitReports<T>
  readonly #pending = new CommitQueue<T>()
  readonly #tasks: (() => Promise<void>)[] = []
  /** Due when the write-behind queue must be written. */
  readonly #behind = new DueTimer(behindAfter, () => this.#kick())
  /** Due when a storage that rejected writes must be tested. */
  readonly #probe = new DueTimer(probeAfter, () => {
    this.#behind.due = this.#options.writeBehind.size > 0
    this.#kick()
  })
  readonly progress: FlushProgress
  /** Promise of the write loop, which resolves when no work is left; undefined: the loop is not running. */
  #running: Promise<void> | undefined
  #closing = false
  /** Ends the wait for an unreachable storage. */
  #wake: (() => void) | undefined

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
    this.#reports = new CommitReports(options)
    this.progress = new FlushProgress(options.flushGate)
    const { storage } = options
    storage.onAway(() => {
      // The outage is reported at once, even while the outcome of a write is awaited. The probe detects when the
      // storage is back, even without changes.
      this.#reports.unhealthy(storage.away()?.error)
      this.#probe.due = true
      this.#kick()
    })
  }

  /** Number of pending changes. */
  get backlog(): number {
    return this.#pending.size + this.#options.writeBehind.size
  }

  /**
   * Removes an entry that is still in the queue, so that it will not be written.
   * @returns whether it was in the queue
   */
  remove(entry: T): boolean {
    return this.#pending.remove(entry)
  }

  add(entry: T): void {
    this.#pending.add(entry)
    this.#kick()
  }

  /** Starts the timer of the write-behind queue. Call this when the queue has grown. */
  addedBehind(): void {
    if (!this.#behind.due && !this.#closing) this.#behind.start()
  }

  /** Runs a task between two flushes. */
  between<R>(task: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#wake?.()
      this.#kick()
    })
  }

  /** Resolves when no transaction is pending. */
  async whenEmpty(): Promise<void> {
    while (this.#pending.size > 0 || this.progress.flushing) await this.progress.nextFlush()
  }

  /** Writes all pending changes, also the write-behind queue. @param signal ends the wait */
  async flushAll(signal: AbortSignal): Promise<void> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const unregister = onAbort(signal, () => reject(signal.reason))
    try {
      signal.throwIfAborted()
      while (this.backlog > 0 || this.progress.flushing) {
        this.#behind.due = this.#options.writeBehind.size > 0
        this.#kick()
        await Promise.race([this.progress.nextFlush(), ended])
      }
    } finally {
      unregister()
    }
  }

  /** Writes all pending changes, and stops the timers. */
  async drain(): Promise<void> {
    this.#closing = true
    this.#behind.stop()
    this.#probe.stop()
    this.#behind.due = this.#options.writeBehind.size > 0
    this.#wake?.()
    while (this.#hasWork() || this.#running !== undefined) {
      this.#kick()
      await this.#running
    }
  }

  #hasWork(): boolean {
    return this.#pending.size > 0 || this.#tasks.length > 0 || this.#behind.due || this.#probe.due
  }

  #kick(): void {
    if (this.#running !== undefined || !this.#hasWork()) return
    this.#running = turn().then(() => this.#run())
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      const { held } = this.progress
      if (held !== undefined) {
        await held
        continue
      }
      const task = this.#tasks.shift()
      const away = this.#options.storage.away()
      if (task !== undefined) await task()
      else if (away !== undefined) await this.#wait(away)
      else {
        this.progress.away(false)
        await this.#flush()
        await turn()
      }
    }
    this.#running = undefined
  }

  /**
   * Waits until the storage is reachable before the next group is taken, so that changes that time out meanwhile are
   * left out.
   */
  async #wait({ error, back }: Away): Promise<void> {
    this.progress.away(true)
    this.#reports.unhealthy(error)
    if (this.#closing) {
      const group = this.#pending.takeAll()
      this.#behind.due = false
      this.#probe.due = false
      this.#reports.refused(group, error)
      this.progress.ended()
      return
    }
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([back, woken])
    this.#wake = undefined
    this.#probe.due = true
    this.#behind.due = this.#options.writeBehind.size > 0
  }

  async #flush(): Promise<void> {
    const changes = this.#takeBehind()
    const group = this.#pending.takeGroup()
    const probing = this.#probe.due
    this.#probe.due = false
    if (changes.length > 0 || group.length > 0 || probing) await this.#store(changes, group)
    this.progress.ended()
  }

  async #store(changes: readonly Change[], group: readonly T[]): Promise<void> {
    const { storage, writeBehind } = this.#options
    // Write-behind changes go first, so that a transaction of the same group overrides them.
    const lines = changes.length === 0 ? [] : [encodeChanges(changes)]
    for (const { line, further } of group) {
      lines.push(line)
      for (const next of further ?? []) lines.push(next)
    }
    this.progress.began()
    try {
      await storage.append(lines)
    } catch (error) {
      this.progress.failed()
      if (!this.#closing) writeBehind.restore(changes)
      this.#refused(error)
      this.#notStored(group, error)
      return
    }
    this.progress.succeeded()
    this.#reports.durable(group, this.progress.lastFlush)
  }

  #takeBehind(): Change[] {
    if (!this.#behind.due) return []
    const changes = this.#options.writeBehind.take(behindRecords)
    if (this.#options.writeBehind.size === 0) this.#behind.due = false
    return changes
  }

  /** Puts back changes that can be retried, and rejects all other changes. */
  #notStored(group: readonly T[], error: unknown): void {
    const again = error instanceof StorageAwayError && !this.#closing
    const refused = again ? this.#pending.putBack(group) : group
    if (refused.length > 0) this.#reports.refused(refused, error)
  }

  #refused(error: unknown): void {
    this.#reports.unhealthy(error)
    this.#behind.due = false
    if (!this.#closing) this.#probe.start()
  }
}

interface CommitListener<T> {
  /** Called with changes that are durable, in the order in which they were stored. */
  onDurable: (group: readonly T[]) => void
  /** Called with changes that the storage rejected: none of them is stored. */
  onRefused: (group: readonly T[], error: unknown) => void
  /** Called with the duration of a successful flush, in milliseconds. */
  onFlush: (milliseconds: number) => void
  /** Called with the error when the first flush fails, and with undefined when flushes succeed again. */
  onHealth: (error: unknown) => void
  /** Called when one of the callbacks above has thrown. Writing continues. */
  onError: (error: unknown) => void
}

/** Reports the outcomes of flushes. A listener that throws does not stop the writing. */
class CommitReports<T> {
  readonly #listener: CommitListener<T>
  #healthy = true

  constructor(listener: CommitListener<T>) {
    this.#listener = listener
  }

  durable(group: readonly T[], milliseconds: number): void {
    if (!this.#healthy) {
      this.#healthy = true
      this.#guarded(() => this.#listener.onHealth(undefined))
    }
    this.#guarded(() => this.#listener.onDurable(group))
    this.#guarded(() => this.#listener.onFlush(milliseconds))
  }

  refused(group: readonly T[], error: unknown): void {
    this.#guarded(() => this.#listener.onRefused(group, error))
  }

  /** Reports the first failure after successful flushes. */
  unhealthy(error: unknown): void {
    if (!this.#healthy) return
    this.#healthy = false
    this.#guarded(() => this.#listener.onHealth(error))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#listener.onError(error)
    }
  }
}

/** Sets a flag after a delay. Does not keep the process alive. */
class DueTimer {
  readonly #milliseconds: number
  readonly #onDue: () => void
  #timer: Timer | undefined
  due = false

  /** @param onDue called after the flag was set */
  constructor(milliseconds: number, onDue: () => void) {
    this.#milliseconds = milliseconds
    this.#onDue = onDue
  }

  /** Starts the timer, unless it is running. */
  start(): void {
    if (this.#timer !== undefined) return
    const due = (): void => {
      this.#timer = undefined
      this.due = true
      this.#onDue()
    }
    this.#timer = startTimer(this.#milliseconds, due, false)
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
