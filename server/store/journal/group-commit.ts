import { setImmediate as immediate } from 'node:timers/promises'
import { encodeChanges } from './journal-line.ts'
import type { WriteBehindQueue } from './write-behind.ts'
import { type Away, type Storage, StorageAwayError } from '../storage.ts'
import type { Change } from '../store.ts'

/** Something that waits for the disk. */
export interface Committing {
  /** Its journal line. */
  readonly line: string
  /** Its caller was answered that it failed, so it must not be written any more. */
  cancelled: boolean
}

export interface GroupCommitOptions<T extends Committing> {
  storage: Pick<Storage, 'append' | 'away' | 'onAway'>
  writeBehind: WriteBehindQueue
  /** These are durable; called in the order in which they are stored. */
  onDurable: (group: readonly T[]) => void
  /** The storage refused these: none of them counts. */
  onRefused: (group: readonly T[], error: unknown) => void
  /** Milliseconds of a flush that succeeded. */
  onFlush: (milliseconds: number) => void
  /** A flush failed after good ones (with the error), or succeeded after failed ones (undefined). */
  onHealth: (error: unknown) => void
  /** Called when one of the above has thrown. Writing goes on. */
  onError: (error: unknown) => void
}

/** Maximum of characters in one write. */
const groupLength = 512 * 1024
/** Maximum of records of the write-behind queue in one line. */
const behindRecords = 256
/** A change in the write-behind queue is written this long after it was made at the latest, in milliseconds; the contract gives it 1 s. */
const behindAfter = 500
/** How often a disk that refuses is tried when nobody changes anything, in milliseconds. */
const probeAfter = 1_000

/**
 * Group commit: one flush at a time; whatever comes while it is under way shares the next.
 * One write per turn of the event loop, so that everything that arrived in one turn goes together.
 * Large because four reasons start a flush (a change, a task between flushes, the write-behind queue, a probe) and three delay it (a flush under way, a stall, a storage that is away), and one loop has to
 * weigh all of them to keep the order of the journal.
 */
export class GroupCommit<T extends Committing> {
  readonly #options: GroupCommitOptions<T>
  readonly #tasks: (() => Promise<void>)[] = []
  readonly #idle: (() => void)[] = []
  #pending: T[] = []
  #running = false
  #behindDue = false
  #behindTimer: NodeJS.Timeout | undefined
  #probeDue = false
  #probeTimer: NodeJS.Timeout | undefined
  #healthy = true
  #closing = false
  /** performance.now() when the flush under way began; 0 when none is. */
  #flushStart = 0
  #stalledAt = 0
  #stallEnd: (() => void) | undefined
  /** performance.now() when the storage was first found away; 0 while it can be reached. */
  #awaySince = 0
  /** Ends the wait for a storage that is away. */
  #wake: (() => void) | undefined
  #waitingForFlush: (() => void)[] = []
  lastFlush = 0

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
    const { storage } = options
    storage.onAway(() => {
      // Told at once, also while an outcome is waited for; and tried, so that it is found when it is back though nobody changes anything.
      this.#unhealthy(storage.away()?.error)
      this.#probeDue = true
      this.#kick()
    })
  }

  get backlog(): number {
    return this.#pending.length + this.#options.writeBehind.size
  }

  /** Since when the storage has not answered, as of performance.now(); 0 when it owes no answer. */
  get waitingSince(): number {
    let since = this.#flushStart
    for (const start of [this.#stalledAt, this.#awaySince])
      if (start !== 0 && (since === 0 || start < since)) since = start
    return since
  }

  /** Whether it is known that nothing is stored now: the lab holds the flushes back, or the storage cannot be reached. */
  get blocked(): boolean {
    return this.#stalledAt !== 0 || this.#awaySince !== 0
  }

  /** Whether this entry was waiting for its turn, and now is not: it will not be written. */
  remove(entry: T): boolean {
    const index = this.#pending.indexOf(entry)
    if (index === -1) return false
    this.#pending.splice(index, 1)
    return true
  }

  add(entry: T): void {
    this.#pending.push(entry)
    this.#kick()
  }

  /** The write-behind queue has grown. */
  addedBehind(): void {
    if (this.#behindTimer !== undefined || this.#behindDue || this.#closing) return
    this.#behindTimer = setTimeout(() => {
      this.#behindTimer = undefined
      this.#behindDue = true
      this.#kick()
    }, behindAfter)
    this.#behindTimer.unref()
  }

  /** Runs a task between two flushes. */
  between<R>(task: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#wake?.()
      this.#kick()
    })
  }

  /** Resolves when no transaction waits for the disk. */
  async whenEmpty(): Promise<void> {
    while (this.#pending.length > 0 || this.#flushStart !== 0) await this.nextFlush()
  }

  /** Writes out everything that waits, the write-behind queue as well. @param signal no longer waited for */
  async flushAll(signal: AbortSignal): Promise<void> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const end = (): void => reject(signal.reason)
    signal.addEventListener('abort', end)
    try {
      signal.throwIfAborted()
      while (this.backlog > 0 || this.#flushStart !== 0) {
        this.#behindDue = this.#options.writeBehind.size > 0
        this.#kick()
        await Promise.race([this.nextFlush(), ended])
      }
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Resolves when the flush under way has ended. */
  nextFlush(): Promise<void> {
    return new Promise((resolve) => this.#waitingForFlush.push(resolve))
  }

  /** Lab: no flush begins until called with false. */
  stall(stalled: boolean): void {
    if (stalled && this.#stalledAt === 0) this.#stalledAt = performance.now()
    else if (!stalled && this.#stalledAt !== 0) {
      this.#stalledAt = 0
      this.#stallEnd?.()
      this.#stallEnd = undefined
      if (this.#flushStart === 0) this.#answered()
    }
  }

  /** Writes out everything that waits, and stops the timers. */
  async drain(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#behindTimer)
    clearTimeout(this.#probeTimer)
    this.#behindDue = this.#options.writeBehind.size > 0
    this.#wake?.()
    while (this.#hasWork() || this.#running) {
      this.#kick()
      await new Promise<void>((resolve) => this.#idle.push(resolve))
    }
  }

  #hasWork(): boolean {
    return this.#pending.length > 0 || this.#tasks.length > 0 || this.#behindDue || this.#probeDue
  }

  #kick(): void {
    if (this.#running || !this.#hasWork()) return
    this.#running = true
    setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      if (this.#stalledAt !== 0) {
        await new Promise<void>((resolve) => {
          this.#stallEnd = resolve
        })
        continue
      }
      const task = this.#tasks.shift()
      const away = this.#options.storage.away()
      if (task !== undefined) await task()
      else if (away !== undefined) await this.#wait(away)
      else {
        this.#awaySince = 0
        await this.#flush()
        await immediate()
      }
    }
    this.#running = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Waits for the storage before the next group is taken, so that changes that time out meanwhile are left out. */
  async #wait({ error, back }: Away): Promise<void> {
    if (this.#awaySince === 0) this.#awaySince = performance.now()
    this.#unhealthy(error)
    if (this.#closing) {
      const group = this.#takeAll()
      this.#behindDue = false
      this.#probeDue = false
      this.#guarded(() => this.#options.onRefused(group, error))
      this.#answered()
      return
    }
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([back, woken])
    this.#wake = undefined
    this.#probeDue = true
    this.#behindDue = this.#options.writeBehind.size > 0
  }

  async #flush(): Promise<void> {
    const { storage, writeBehind, onDurable, onFlush } = this.#options
    const changes = this.#takeBehind()
    const group = this.#takeGroup()
    const probing = this.#probeDue
    this.#probeDue = false
    if (changes.length === 0 && group.length === 0 && !probing) {
      this.#answered()
      return
    }
    // Changes written behind stand first: a transaction of the same group has the last word.
    const lines = changes.length === 0 ? [] : [encodeChanges(changes)]
    for (const { line } of group) lines.push(line)
    const start = performance.now()
    this.#flushStart = start
    try {
      await storage.append(lines)
    } catch (error) {
      this.#flushStart = 0
      if (!this.#closing) writeBehind.restore(changes)
      this.#refused(error)
      this.#notStored(group, error)
      this.#answered()
      return
    }
    this.#flushStart = 0
    this.lastFlush = performance.now() - start
    if (!this.#healthy) {
      this.#healthy = true
      this.#guarded(() => this.#options.onHealth(undefined))
    }
    this.#guarded(() => onDurable(group))
    this.#guarded(() => onFlush(this.lastFlush))
    this.#answered()
  }

  #takeBehind(): Change[] {
    if (!this.#behindDue) return []
    const changes = this.#options.writeBehind.take(behindRecords)
    if (this.#options.writeBehind.size === 0) this.#behindDue = false
    return changes
  }

  #takeGroup(): T[] {
    const group: T[] = []
    let length = 0
    let taken = 0
    for (const entry of this.#pending) {
      if (length > 0 && length + entry.line.length > groupLength) break
      taken++
      if (entry.cancelled) continue
      length += entry.line.length
      group.push(entry)
    }
    this.#pending = taken === this.#pending.length ? [] : this.#pending.slice(taken)
    return group
  }

  /** Puts changes that can be tried again in front of those that came later. */
  #notStored(group: readonly T[], error: unknown): void {
    const again = error instanceof StorageAwayError && !this.#closing
    const refused = again ? group.filter(({ cancelled }) => cancelled) : group
    if (again) this.#pending = [...group.filter(({ cancelled }) => !cancelled), ...this.#pending]
    if (refused.length > 0) this.#guarded(() => this.#options.onRefused(refused, error))
  }

  #takeAll(): T[] {
    const group = this.#pending
    this.#pending = []
    return group
  }

  #unhealthy(error: unknown): void {
    if (!this.#healthy) return
    this.#healthy = false
    this.#guarded(() => this.#options.onHealth(error))
  }

  #refused(error: unknown): void {
    this.#unhealthy(error)
    this.#behindDue = false
    if (this.#probeTimer !== undefined || this.#closing) return
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined
      this.#probeDue = true
      this.#behindDue = this.#options.writeBehind.size > 0
      this.#kick()
    }, probeAfter)
    this.#probeTimer.unref()
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#options.onError(error)
    }
  }

  #answered(): void {
    if (this.#waitingForFlush.length === 0) return
    const waiting = this.#waitingForFlush
    this.#waitingForFlush = []
    for (const resolve of waiting) resolve()
  }
}
