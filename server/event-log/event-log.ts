import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type EventActor,
  type EventEntry,
  type EventFilter,
  eventMatcher,
  type LogVerdict,
} from '../../shared/console/events.ts'
import type { Log } from '../observe/log.ts'
import { eventsFolder } from '../store/backups/backup-events.ts'
import { syncFolder } from '../store/files/durable-files.ts'
import type { Sealer } from '../store/sealer.ts'
import { boundedContent } from './bounded-content.ts'
import type { EndBound } from './end-bound.ts'
import { type ChainEnd, type EventContent, lineAfter } from './entry-line.ts'
import { HeadFile, type LogHead } from './head-file.ts'
import { readBack } from './read-back.ts'
import { type RecoveredLog, recoverLog } from './recover-log.ts'
import { expired, isAnotherDay, type LogBounds, type Segment, segmentName } from './segments.ts'
import { verifyLog } from './verify.ts'

/** What happened, as a source tells it; what is left out has its plain value. */
export type EventDraft = Pick<EventContent, 'kind' | 'subject'> & Partial<Omit<EventContent, 'kind' | 'subject'>>

/** Where sources write. */
export type EventSink = Pick<EventLog, 'append'>

export interface EventLogOptions {
  /** The data folder; the log has one of its own in it. */
  dataFolder: string
  sealer: Pick<Sealer, 'proof'>
  logger: Log
  /** How much is kept; read when a segment ends, and each hour. */
  bounds: () => LogBounds
  /** Number that the log has reached at least; left out: nothing is known. */
  bound?: EndBound
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** Bytes after which a file of the log ends. */
  segmentBytes?: number
  /** What comes together within so many milliseconds is written together. */
  gatherMs?: number
  /** Entries that wait for a disk that refuses; further ones are counted, and lost. */
  maxWaiting?: number
}

/** State of the log, for the console. */
export interface EventLogStatus {
  /** false while the disk refuses entries. */
  healthy: boolean
  lastError: string
  /** Since when; 0 while it is healthy. */
  since: number
  /** Entries that were not kept since the start. */
  lost: number
}

const system: EventActor = { type: 'system', name: '', address: '' }

/** A start reads the newest segment whole: some 10,000 entries. */
const defaultSegmentBytes = 4 * 1024 * 1024
const defaultGatherMs = 250
/** Between two syncs of the disk, milliseconds. */
const syncMs = 1_000
/** Between two notes of the log's end in the store, milliseconds. */
const noteMs = 60_000
/** Between two attempts while the disk refuses, milliseconds. */
const retryMs = 1_000
const hourMs = 60 * 60_000
const defaultMostWaiting = 20_000
/** Entries written at once: making the lines takes the process a millisecond or two. */
const batchLength = 500
/** The newest entries, kept in memory for whoever looks. */
const tailLength = 1_000
/** Bytes that one query reads of the disk. */
const queryBytes = 16 * 1024 * 1024

/**
 * What happened at the site, on disk, as a chain of entries each of which holds the hash of the one before it. Appending costs a push: lines are made and written a moment later,
 * and synced once a second. A disk that refuses disturbs nobody: entries wait, the rest is counted, and the log says so once it goes on.
 */
export class EventLog {
  readonly folder: string
  /** The last entry of the time before this one; undefined when there was none. */
  readonly endedWith: EventEntry | undefined
  readonly #options: EventLogOptions
  readonly #clock: () => number
  readonly #head: HeadFile
  readonly #segments: Segment[]
  readonly #listeners = new Set<(entries: readonly EventEntry[]) => void>()
  readonly #tail: EventEntry[]
  readonly #hourly: NodeJS.Timeout
  #oldest: LogHead['oldest']
  #end: ChainEnd
  /** What is synced. */
  #sealed: ChainEnd
  #waiting: EventContent[] = []
  #lost = 0
  /** Of them, those that no entry tells of yet. */
  #untold = 0
  #handle: FileHandle | undefined
  #goesOn: boolean
  #work: Promise<void> = Promise.resolve()
  #gather: NodeJS.Timeout | undefined
  #sync: NodeJS.Timeout | undefined
  #lastSync = 0
  #notedAt = Number.NEGATIVE_INFINITY
  #error: { message: string; since: number } | undefined
  #closed = false

  private constructor(folder: string, options: EventLogOptions, recovered: RecoveredLog) {
    this.folder = folder
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#head = new HeadFile(folder, options.sealer)
    this.#segments = recovered.segments
    this.#tail = recovered.tail
    this.endedWith = recovered.tail.at(-1)
    this.#oldest = recovered.oldest
    this.#end = recovered.end
    this.#sealed = recovered.end
    this.#goesOn = recovered.goesOn
    this.#hourly = setInterval(() => this.#then(() => this.#clear()), hourMs).unref()
  }

  /** Opens the log of a data folder, or begins one. @throws what the file system says */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const folder = join(options.dataFolder, eventsFolder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const recovered = await recoverLog(folder, options.sealer, tailLength, options.bound?.read())
    const log = new EventLog(folder, options, recovered)
    const subject = { type: 'site', id: '', name: '' } as const
    const { fault, dropped } = recovered
    if (fault !== undefined) {
      options.logger.error({ fault }, 'the event log was changed while nobody looked after it')
      log.append({ kind: 'log.recovered', level: 'error', subject, params: { fault, dropped } })
    } else if (dropped > 0) log.append({ kind: 'log.recovered', subject, params: { fault: '', dropped } })
    else if (recovered.end.seq === 0) {
      // Before the first entry: a crash in the first second is no log without a seal.
      await log.#head.write({ oldest: recovered.oldest, newest: recovered.end })
      log.append({ kind: 'log.begun', subject })
    }
    return log
  }

  /** Something happened. Costs a push; never throws, never waits. */
  append(draft: EventDraft): void {
    if (this.#closed) return
    if (this.#waiting.length >= (this.#options.maxWaiting ?? defaultMostWaiting)) {
      this.#lost++
      this.#untold++
      return
    }
    const { kind, level = 'info', actor = system, subject, params = {}, before, after, room = '' } = draft
    const changes = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }
    this.#waiting.push({ at: draft.at ?? this.#clock(), kind, level, actor, subject, room, params, ...changes })
    this.#gather ??= setTimeout(
      () => this.#then(() => this.#write()),
      this.#options.gatherMs ?? defaultGatherMs,
    ).unref()
  }

  /** Told of entries once they are written, oldest first. Returns the unsubscribe function. */
  onAdded(listener: (entries: readonly EventEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status(): EventLogStatus {
    const { message = '', since = 0 } = this.#error ?? {}
    return { healthy: this.#error === undefined, lastError: message, since, lost: this.#lost }
  }

  /** Entries that match, newest first, those that were appended just now too. @throws what the file system says */
  async query(query: EventFilter & { before?: number | undefined; limit: number }): Promise<{
    items: EventEntry[]
    next: number
    kept: number
    since: number
  }> {
    await this.flush()
    const { limit, before = Number.MAX_SAFE_INTEGER, ...filter } = query
    const facts = { kept: this.#end.seq - this.#oldest.seq + 1, since: this.#segments[0]?.at ?? 0 }
    const matches = eventMatcher(filter)
    const items: EventEntry[] = []
    let last = before
    for (let index = this.#tail.length - 1; index >= 0 && items.length < limit; index--) {
      const entry = this.#tail[index]
      if (entry === undefined || entry.seq >= before) continue
      last = entry.seq
      if (matches(entry)) items.push(entry)
    }
    if (items.length === limit || last <= this.#oldest.seq) {
      return { items, next: last > this.#oldest.seq ? last : 0, ...facts }
    }
    const rest = { filter, before: last, limit: limit - items.length, budget: queryBytes }
    const older = await readBack(this.folder, [...this.#segments], rest)
    return { items: [...items, ...older.items], next: older.next, ...facts }
  }

  /** Says whether anything was changed or taken out. @throws what the file system says; the signal's reason */
  async verify(signal?: AbortSignal): Promise<LogVerdict> {
    await this.flush()
    await this.#then(() => this.#seal())
    return await verifyLog(this.folder, this.#options.sealer, { signal, reached: this.#options.bound?.read() })
  }

  /** Writes what waits, as far as the disk takes it. Never rejects. */
  async flush(): Promise<void> {
    await this.#then(() => this.#write())
  }

  /** Writes and syncs everything; nothing is taken in any more. Never rejects. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#hourly)
    await this.#then(() => this.#write())
    clearTimeout(this.#gather)
    clearTimeout(this.#sync)
    await this.#then(() => this.#seal())
    this.#note()
    await this.#then(async () => {
      await this.#handle?.close()
      await this.#head.close()
    })
  }

  /** One after the other; what the disk refuses is noted, and tried again. */
  #then(job: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(job).catch((error: unknown) => this.#refused(error))
    return this.#work
  }

  async #write(): Promise<void> {
    clearTimeout(this.#gather)
    this.#gather = undefined
    while (this.#waiting.length > 0 || this.#untold > 0) await this.#writeBatch()
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, batchLength)
    // How many are missing is told where they would stand: behind those that waited.
    const untold = batch.length === this.#waiting.length ? this.#untold : 0
    await this.#writeTogether(untold === 0 ? batch : [...batch, this.#gapOf(untold)])
    this.#waiting.splice(0, batch.length)
    this.#untold -= untold
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

  /** Writes entries behind each other; those of another day, or beyond the size of a segment, begin one. @throws what the file system says; then what was not written is not there */
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
    const { segment, handle } = await this.#segmentFor(first)
    const bytes = Buffer.from(lines.join(''))
    try {
      await writeAll(handle, bytes, segment.bytes)
    } catch (error) {
      // What is there in part must not stand before what comes next.
      await handle.truncate(segment.bytes).catch(() => undefined)
      throw error
    }
    segment.bytes += bytes.length
    this.#end = { seq: end.seq, hash: end.hash }
    this.#tail.push(...entries)
    if (this.#tail.length > 2 * tailLength) this.#tail.splice(0, this.#tail.length - tailLength)
    this.#sync ??= setTimeout(
      () => this.#then(() => this.#seal()),
      Math.max(0, this.#lastSync + syncMs - performance.now()),
    ).unref()
    for (const listener of this.#listeners) listener(entries)
  }

  async #segmentFor(first: EventEntry): Promise<{ segment: Segment; handle: FileHandle }> {
    const { segmentBytes = defaultSegmentBytes } = this.#options
    const last = this.#segments.at(-1)
    if (last !== undefined && this.#goesOn && last.bytes < segmentBytes && !isAnotherDay(last.at, first.at)) {
      this.#handle ??= await open(join(this.folder, last.name), 'r+')
      return { segment: last, handle: this.#handle }
    }
    if (this.#handle !== undefined) {
      await this.#seal()
      await this.#handle.close()
      this.#handle = undefined
    }
    const segment = { name: segmentName(first.seq), first: first.seq, bytes: 0, at: first.at, prev: first.prev }
    // One of this name holds nothing that the seal covers.
    if (last?.first === segment.first) this.#segments.pop()
    const handle = await open(join(this.folder, segment.name), 'w', 0o600)
    this.#handle = handle
    await syncFolder(this.folder)
    this.#segments.push(segment)
    this.#goesOn = true
    await this.#clear()
    return { segment, handle }
  }

  /** What was written is on the disk, and the head says so. */
  async #seal(): Promise<void> {
    clearTimeout(this.#sync)
    this.#sync = undefined
    if (this.#handle === undefined || this.#sealed.seq === this.#end.seq) return
    this.#lastSync = performance.now()
    const end = this.#end
    await this.#handle.datasync()
    await this.#head.write({ oldest: this.#oldest, newest: end })
    this.#sealed = end
    if (performance.now() - this.#notedAt >= noteMs) this.#note()
  }

  /** Notes the end of the log in the store. One that takes nothing now is no fault of the log. */
  #note(): void {
    this.#notedAt = performance.now()
    try {
      this.#options.bound?.note(this.#sealed.seq)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'the end of the event log was not noted in the store')
    }
  }

  /** Lets go of the oldest segments beyond the bounds: first the head says so. */
  async #clear(): Promise<void> {
    const count = expired(this.#segments, this.#options.bounds(), this.#clock())
    const first = this.#segments[count]
    if (count === 0 || first === undefined) return
    this.#oldest = { seq: first.first, prev: first.prev }
    await this.#head.write({ oldest: this.#oldest, newest: this.#sealed })
    for (const { name } of this.#segments.splice(0, count)) await rm(join(this.folder, name), { force: true })
    const firstKept = this.#tail.findIndex(({ seq }) => seq >= first.first)
    if (firstKept > 0) this.#tail.splice(0, firstKept)
  }

  #refused(error: unknown): void {
    const message = error instanceof Error ? error.message : 'unknown'
    if (this.#error === undefined) this.#options.logger.error({ err: error }, 'the event log cannot be written')
    this.#error = { message, since: this.#error?.since ?? this.#clock() }
    if (this.#closed) return
    this.#gather ??= setTimeout(() => this.#then(() => this.#write()), retryMs).unref()
  }
}

/** A write may take a part only. @throws what the file system says */
async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
