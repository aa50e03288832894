import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventActor } from '../../shared/domain/event-actor.ts'
import { eventMatcher } from '../../shared/console/event-matcher.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import type { EventEntry, EventFilter, LogVerdict } from '../../shared/domain/events.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { Log } from '../observe/log.ts'
import { eventsFolder } from '../store/backups/backup-events.ts'
import { syncFolder } from '../store/files/durable-files.ts'
import type { Sealer } from '../store/sealer.ts'
import { boundedContent, type ChainEnd, type EventContent, lineAfter } from './entry-line.ts'
import { HeadFile, type LogHighWaterMark, LogSeal } from './log-seal.ts'
import { readBack, readForward } from './read-log.ts'
import { RecentEntries, recentLength, WaitingEvents } from './entries-in-memory.ts'
import { type RecoveredLog, recoverLog } from './recover-log.ts'
import { LogFiles, expired, type LogBounds } from './segments.ts'
import { verifyLog } from './verify.ts'

/** An event of a source; fields that are left out get their default. */
export type EventDraft = Pick<EventContent, 'kind' | 'subject'> &
  Partial<Omit<EventContent, 'kind' | 'subject' | 'params'>> & { readonly params?: EventParams }

/**
 * Interface of the event log for sources and the console. The log belongs to one machine, or to a site in a database.
 */
export type SharedEventLog = Pick<
  EventLog,
  'append' | 'onAdded' | 'status' | 'query' | 'verify' | 'flush' | 'sync' | 'close' | 'endedWith'
>

export type EventSink = Pick<EventLog, 'append'>

export interface EventLogOptions {
  /** The data folder, in which the log has a sub-folder. */
  dataFolder: string
  sealer: Pick<Sealer, 'proof'>
  logger: Log
  /** Returns the limits of the log's age and size. Read when a segment ends, and every hour. */
  bounds: () => LogBounds
  /** Lower bound of the number of the log's last entry; undefined: unknown. */
  highWaterMark?: LogHighWaterMark
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
  /** Size after which a segment of the log ends, in bytes. */
  segmentBytes?: number
  /** Time in milliseconds within which entries are written together. */
  gatherMs?: number
  /** Maximum number of events pending while the disk rejects writes. Further events are lost, but counted. */
  maxWaiting?: number
}

export interface EventLogStatus {
  /** Whether the disk accepts entries. */
  healthy: boolean
  lastError: string
  /** Time of the first failure, in milliseconds since the epoch; 0: healthy. */
  since: number
  /** Number of events lost since the start. */
  lost: number
}

const system: EventActor = { type: 'system', name: '', address: '' }

/** Default size of a segment, in bytes: about 10,000 entries. A start reads the whole newest segment. */
const defaultSegmentBytes = 4 * 1024 * 1024
const defaultGatherMs = 250
/** Interval of syncs, in milliseconds. */
const syncMs = 1_000
/** Interval of attempts while the disk rejects writes, in milliseconds. */
const retryMs = 1_000
const hourMs = 60 * 60_000
const defaultMostWaiting = 20_000
/** Maximum number of entries written at once: building their lines takes a millisecond or two. */
const batchLength = 500
/** Maximum number of bytes that one query reads from disk. */
const queryBytes = 16 * 1024 * 1024

/**
 * Events of the site, on disk, as a chain in which each entry holds the hash of the previous one. Appending only adds
 * to a queue: lines are built and written after `gatherMs`, and synced once a second.
 * If the disk rejects writes, callers do not wait: events are queued, or counted as lost. An entry reports the loss
 * when writing succeeds again.
 */
export class EventLog {
  readonly folder: string
  /** The last entry before this start; undefined: none. */
  readonly endedWith: EventEntry | undefined
  readonly #options: EventLogOptions
  readonly #clock: () => number
  readonly #seals: LogSeal
  readonly #files: LogFiles
  readonly #recent: RecentEntries
  readonly #waiting: WaitingEvents
  readonly #listeners = new Set<(entries: readonly EventEntry[]) => void>()
  readonly #hourly: NodeJS.Timeout
  /** The last written entry, synced or not. */
  #end: ChainEnd
  #work: Promise<void> = Promise.resolve()
  #gather: NodeJS.Timeout | undefined
  #sync: NodeJS.Timeout | undefined
  #lastSync = 0
  #error: { message: string; since: number } | undefined
  #closed = false

  private constructor(folder: string, options: EventLogOptions, recovered: RecoveredLog) {
    this.folder = folder
    this.#options = options
    this.#clock = options.clock ?? Date.now
    const { oldest, end, segments, goesOn, tail } = recovered
    const head = new HeadFile(folder, options.sealer)
    this.#seals = new LogSeal(head, { oldest, newest: end }, options.highWaterMark, options.logger)
    this.#files = new LogFiles(folder, segments, goesOn, options.segmentBytes ?? defaultSegmentBytes)
    this.#waiting = new WaitingEvents(options.maxWaiting ?? defaultMostWaiting)
    this.#recent = new RecentEntries(tail)
    this.endedWith = tail.at(-1)
    this.#end = end
    this.#hourly = setInterval(() => mustNotFail(this.#then(() => this.#clear())), hourMs).unref()
  }

  /** Opens the log of a data folder, or creates one. @throws errors of the file system */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const folder = join(options.dataFolder, eventsFolder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Syncs the entry of the new folder: otherwise a power failure could remove the log, as if it had been deleted by
    // hand. A failed sync must not prevent the start.
    await syncFolder(options.dataFolder).catch(() => undefined)
    const recovered = await recoverLog(folder, options.sealer, recentLength, options.highWaterMark?.read())
    const log = new EventLog(folder, options, recovered)
    const subject = { type: 'site', id: '', name: '' } as const
    const { fault, dropped } = recovered
    if (fault !== undefined) {
      options.logger.error({ fault }, 'event log was changed while the controller did not run')
      log.append({ kind: 'log.recovered', level: 'error', subject, params: { fault, dropped } })
    } else if (dropped > 0) log.append({ kind: 'log.recovered', subject, params: { fault: '', dropped } })
    else if (recovered.end.seq === 0) {
      // Written before the first entry: after a crash in the first second the log must still have a seal.
      await log.#seals.write()
      log.append({ kind: 'log.begun', subject })
    }
    return log
  }

  /** Adds an event. Never throws and never waits. */
  append(draft: EventDraft): void {
    if (this.#closed || !this.#waiting.hasRoom()) return
    const { kind, level = 'info', actor = system, subject, params = {}, before, after, room = '', change } = draft
    const changes = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }
    this.#waiting.add({
      at: draft.at ?? this.#clock(),
      kind,
      level,
      actor,
      subject,
      room,
      params,
      ...changes,
      ...(change === undefined ? {} : { change }),
    })
    this.#gather ??= setTimeout(
      () => mustNotFail(this.#then(() => this.#write())),
      this.#options.gatherMs ?? defaultGatherMs,
    ).unref()
  }

  /**
   * Registers a listener that is called with entries after they are written, oldest first. Returns the unsubscribe
   * function.
   */
  onAdded(listener: (entries: readonly EventEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status(): EventLogStatus {
    const { message = '', since = 0 } = this.#error ?? {}
    return { healthy: this.#error === undefined, lastError: message, since, lost: this.#waiting.lost }
  }

  /**
   * Returns matching entries, newest first, including entries that were just appended.
   * @throws errors of the file system
   */
  async query(query: EventFilter & { before?: number | undefined; limit: number }): Promise<{
    items: EventEntry[]
    next: number
    kept: number
    newest: number
    since: number
  }> {
    await this.flush()
    const { limit, before = Number.MAX_SAFE_INTEGER, ...filter } = query
    const facts = {
      kept: this.#end.seq - this.#seals.oldest.seq + 1,
      newest: this.#end.seq,
      since: this.#files.all[0]?.at ?? 0,
    }
    const matches = eventMatcher(filter)
    const { items, last } = this.#recent.find(before, limit, matches)
    const oldest = this.#seals.oldest.seq
    if (items.length === limit || last <= oldest) return { items, next: last > oldest ? last : 0, ...facts }
    const rest = { filter, before: last, limit: limit - items.length, budget: queryBytes }
    const older = await readBack(this.folder, [...this.#files.all], rest)
    return { items: [...items, ...older.items], next: older.next, ...facts }
  }

  /** Returns written entries after a number, oldest first. @throws errors of the file system */
  async after(seq: number, limit: number): Promise<EventEntry[]> {
    await this.flush()
    if (seq >= this.#end.seq) return []
    return this.#recent.after(seq, limit) ?? (await readForward(this.folder, [...this.#files.all], seq, limit))
  }

  /** Checks whether an entry was changed or removed. @throws errors of the file system; the signal's reason */
  async verify(signal?: AbortSignal): Promise<LogVerdict> {
    await this.flush()
    await this.#then(() => this.#seal())
    return await verifyLog(this.folder, this.#options.sealer, { signal, reached: this.#options.highWaterMark?.read() })
  }

  /** Writes pending events as far as the disk accepts them. Never rejects. */
  async flush(): Promise<void> {
    await this.#then(() => this.#write())
  }

  /**
   * Writes and syncs all events appended so far. Never rejects.
   * @returns number of the last entry; undefined: not all entries are on disk
   */
  async sync(): Promise<number | undefined> {
    await this.#then(() => this.#write())
    const { seq } = this.#end
    const isWritten = this.#error === undefined
    await this.#then(() => this.#seal())
    return isWritten && this.#error === undefined && this.#seals.newest.seq >= seq ? seq : undefined
  }

  /** Writes and syncs everything, and accepts no further events. Never rejects. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#hourly)
    await this.#then(() => this.#write())
    clearTimeout(this.#gather)
    clearTimeout(this.#sync)
    await this.#then(() => this.#seal())
    this.#seals.note()
    await this.#then(async () => {
      await this.#files.close()
      await this.#seals.close()
    })
  }

  /** Runs jobs one at a time. A failure of the disk is recorded, and the write is retried. */
  #then(job: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(job).catch((error: unknown) => this.#refused(error))
    return this.#work
  }

  async #write(): Promise<void> {
    clearTimeout(this.#gather)
    this.#gather = undefined
    while (!this.#waiting.isEmpty) await this.#writeBatch()
  }

  async #writeBatch(): Promise<void> {
    const { batch, gap } = this.#waiting.next(batchLength)
    await this.#writeTogether(gap === 0 ? batch : [...batch, this.#gapOf(gap)])
    this.#waiting.written(batch.length, gap)
    if (this.#error !== undefined) {
      this.#options.logger.info({}, 'the event log is written again')
      this.#error = undefined
    }
  }

  #gapOf(count: number): EventContent {
    const subject = { type: 'site', id: '', name: '' } as const
    const at = this.#clock()
    return { at, kind: 'log.gap', level: 'error', actor: system, subject, room: '', params: { count } }
  }

  /**
   * Writes entries in order. Entries of another day, or above the size of a segment, begin a new segment.
   * @throws errors of the file system; in that case, the file contains no partial entry
   */
  async #writeTogether(contents: readonly EventContent[]): Promise<void> {
    const lines: string[] = []
    const entries: EventEntry[] = []
    let end = this.#end
    for (const content of contents) {
      const { line, entry } = lineAfter(end, boundedContent(content))
      lines.push(line)
      entries.push(entry)
      end = entry
    }
    const first = entries[0]
    if (first === undefined) return
    if (!this.#files.takes(first)) {
      await this.#seal()
      await this.#files.begin(first)
      await this.#clear()
    }
    await this.#files.write(Buffer.from(lines.join('')))
    this.#end = { seq: end.seq, hash: end.hash }
    this.#recent.add(entries)
    this.#sync ??= setTimeout(
      () => mustNotFail(this.#then(() => this.#seal())),
      Math.max(0, this.#lastSync + syncMs - performance.now()),
    ).unref()
    for (const listener of this.#listeners) listener(entries)
  }

  /** Syncs the written entries, then updates the head. */
  async #seal(): Promise<void> {
    clearTimeout(this.#sync)
    this.#sync = undefined
    if (!this.#files.isOpen || this.#seals.newest.seq === this.#end.seq) return
    this.#lastSync = performance.now()
    const end = this.#end
    await this.#files.sync()
    await this.#seals.extend(end)
  }

  /** Updates the head, then deletes the oldest segments that exceed the limits. */
  async #clear(): Promise<void> {
    const count = expired(this.#files.all, this.#options.bounds(), this.#clock())
    const first = this.#files.all[count]
    if (count === 0 || first === undefined) return
    await this.#seals.shorten({ seq: first.first, prev: first.prev })
    await this.#files.remove(count)
    this.#recent.forgetBefore(first.first)
  }

  #refused(error: unknown): void {
    const message = error instanceof Error ? error.message : 'unknown'
    if (this.#error === undefined) this.#options.logger.error({ err: error }, 'the event log cannot be written')
    this.#error = { message, since: this.#error?.since ?? this.#clock() }
    if (this.#closed) return
    this.#gather ??= setTimeout(() => mustNotFail(this.#then(() => this.#write())), retryMs).unref()
  }
}
