import { sleep } from '../../../shared/sleep.ts'
import type { EventEntry, EventFilter, LogVerdict } from '../../../shared/domain/events.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { Log } from '../../observe/log.ts'
import type { DatabaseSession } from '../../store/postgres/database-session.ts'
import type { Sealer } from '../../store/sealer.ts'
import { eventEntryOf } from '../entry-line.ts'
import type { EventDraft, EventLog, EventLogStatus, SharedEventLog } from '../event-log.ts'
import { PageOfLines } from '../read-log.ts'
import type { LogBounds } from '../segments.ts'
import { readRows, readRowsBack, readSiteHead } from './event-rows.ts'
import { OwnEntries } from './own-entries.ts'
import { addToChain, clearChain, type EntryController, OtherSourceError, verifySiteLog } from './site-chain.ts'

export interface SiteLogOptions {
  /** The log of this controller, in files. */
  own: EventLog
  connect: () => Promise<DatabaseSession>
  controller: EntryController
  sealer: Pick<Sealer, 'proof'>
  logger: Pick<Log, 'info' | 'warn' | 'error' | 'debug'>
  /** Returns the limits of the log's age and size. */
  bounds: () => LogBounds
}

/** Delay between writing entries and copying them, in milliseconds. */
const copyMs = 200
/** Interval of checks for entries of other controllers, and delay after a failure, in milliseconds. */
const lookMs = 2_000
const hourMs = 60 * 60_000
/** Number of lines read by one check, or one step of a query. */
const linesAtOnce = 1_000
/** Number of batches copied before other jobs run. */
const batchesAtOnce = 20
/** Maximum number of lines that a query reads. */
const queriedLines = 40_000
/** Maximum wait at close for the last entries to be copied, in milliseconds. */
const closeMs = 1_000

/**
 * The event log of a site in a database: one chain for all controllers of the site. Each controller first writes its
 * own log in files, so that nothing waits for the database. The entries are copied to the database a moment later, or
 * when the database is reachable again.
 */
export class SiteLog implements SharedEventLog {
  readonly #options: SiteLogOptions
  readonly #own: OwnEntries
  readonly #listeners = new Set<(entries: readonly EventEntry[]) => void>()
  #session: DatabaseSession | undefined
  #work: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  /** Number of the last entry sent to listeners; undefined: no check yet. */
  #shown: number | undefined
  #clearedAt = performance.now()
  /** Error of a reachable database that rejects entries; undefined: none. */
  #refused: { lastError: string; since: number } | undefined
  #closed = false

  constructor(options: SiteLogOptions) {
    this.#options = options
    this.#own = new OwnEntries(options.own)
    options.own.onAdded(() => this.#soon(copyMs))
    this.#soon(copyMs)
  }

  get endedWith(): EventEntry | undefined {
    return this.#options.own.endedWith
  }

  append(draft: EventDraft): void {
    this.#options.own.append(draft)
  }

  onAdded(listener: (entries: readonly EventEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns the status. An unreachable database counts as healthy, because this controller's own log keeps the entries.
   * A reachable database that rejects entries counts as unhealthy.
   */
  status(): EventLogStatus {
    const own = this.#options.own.status()
    return own.healthy && this.#refused !== undefined ? { ...own, healthy: false, ...this.#refused } : own
  }

  /**
   * Returns matching entries of the site, newest first; while the database is unreachable, entries of this controller's
   * own log.
   * @throws errors of the file system
   */
  async query(query: EventFilter & { before?: number | undefined; limit: number }): ReturnType<EventLog['query']> {
    await this.flush()
    try {
      return await this.#run(async () => await this.#queryRows(await this.#connected(), query))
    } catch (error) {
      this.#failed(error)
      return await this.#options.own.query(query)
    }
  }

  /**
   * Checks this controller's own log, then the log of the site.
   * @throws errors of the database or the file system; the signal's reason
   */
  async verify(signal?: AbortSignal): Promise<LogVerdict> {
    await this.flush()
    const own = await this.#options.own.verify(signal)
    if (!own.ok) return own
    const session = await this.#options.connect()
    try {
      return await verifySiteLog(session, this.#options.sealer, signal)
    } finally {
      await session.close()
    }
  }

  /** Writes pending events, and copies them as far as the database accepts them. Never rejects. */
  async flush(): Promise<void> {
    await this.#options.own.flush()
    await this.#then(() => this.#copy())
  }

  /**
   * Writes the events appended so far, and copies them. Never rejects.
   * @returns number of the last entry in this controller's own log; undefined: the site's log lacks some entries
   */
  async sync(): Promise<number | undefined> {
    const seq = await this.#options.own.sync()
    await this.#then(() => this.#copy())
    return seq !== undefined && this.#own.copiedTo >= seq ? seq : undefined
  }

  /** Deletes the oldest entries that exceed the limits, as the hourly job does. Never rejects. */
  async clear(): Promise<void> {
    await this.#then(() => this.#clear())
  }

  async close(): Promise<void> {
    if (this.#closed) return
    // An unreachable or hanging database must not delay the end: the entries are copied at the next start.
    await Promise.race([this.flush(), sleep(closeMs, { ref: false })])
    this.#closed = true
    clearTimeout(this.#timer)
    this.#session?.destroy()
    await this.#options.own.close()
  }

  #soon(milliseconds: number): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      mustNotFail(this.#then(() => this.#turn()))
    }, milliseconds).unref()
  }

  /** Runs jobs one at a time, because they share a connection and its transactions. */
  #run<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#work.then(job)
    this.#work = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  /** Runs a job in order; a job that the database rejects is retried later. */
  #then(job: () => Promise<void>): Promise<void> {
    return this.#run(job).catch((error: unknown) => this.#failed(error))
  }

  async #turn(): Promise<void> {
    try {
      await this.#copy()
      await this.#look()
      if (performance.now() - this.#clearedAt > hourMs) await this.#clear()
    } finally {
      if (this.#timer === undefined) this.#soon(lookMs)
    }
  }

  /**
   * Copies pending entries, at most `batchesAtOnce` batches before other jobs run. @throws errors of the database or
   * the file system
   */
  async #copy(): Promise<void> {
    const { sealer, controller, logger } = this.#options
    for (let batches = 0; !this.#closed; batches++) {
      const entries = await this.#own.next()
      if (entries.length === 0) return
      if (batches === batchesAtOnce) return this.#soon(0)
      try {
        const added = await addToChain(await this.#connected(), sealer, controller, this.#own.source, entries)
        this.#own.copied(entries)
        if (added.fault !== undefined) logger.error({ fault: added.fault }, 'event log of the site was changed')
        await this.#show(added.before, added.entries)
        this.#refused = undefined
      } catch (error) {
        if (!(error instanceof OtherSourceError)) throw error
        await this.#goOnAfter(error)
      }
    }
  }

  async #goOnAfter({ source }: OtherSourceError): Promise<void> {
    const before = this.#own.source
    await this.#own.goOnAfter(source)
    if (before === undefined) return
    // The database lost entries: a backup was restored, or a failover lost the newest entries. They are copied again.
    this.#options.logger.warn(
      {},
      'the event log of the site ends before an entry that it had: what is missing is copied again',
    )
    this.append({
      kind: 'log.recovered',
      level: 'error',
      subject: { type: 'site', id: '', name: '' },
      params: { fault: 'shortened', dropped: 0 },
    })
  }

  async #clear(): Promise<void> {
    this.#clearedAt = performance.now()
    await clearChain(await this.#connected(), this.#options.sealer, this.#options.bounds(), Date.now())
  }

  /** Notifies listeners of entries of other controllers. */
  async #look(): Promise<void> {
    // Only consoles connected to the leader register listeners.
    if (this.#listeners.size === 0) return
    const { last } = await readSiteHead(await this.#connected(), this.#options.sealer)
    await this.#show(last, [])
  }

  /**
   * Sends listeners the new entries of other controllers up to `before`, then `entries`.
   * @param before number of the last entry before `entries`
   */
  async #show(before: number, entries: readonly EventEntry[]): Promise<void> {
    const shown = this.#shown
    this.#shown = entries.at(-1)?.seq ?? before
    // The first check sends no earlier entries. After a restore, `shown` may be greater than `before`.
    const others =
      shown === undefined || shown >= before ? [] : await this.#between(Math.max(shown, before - linesAtOnce), before)
    const all = [...others, ...entries]
    if (all.length > 0) for (const listener of this.#listeners) listener(all)
  }

  async #between(after: number, to: number): Promise<EventEntry[]> {
    const rows = await readRows(await this.#connected(), { after, to, limit: linesAtOnce })
    return rows.flatMap(({ line }) => eventEntryOf(line) ?? [])
  }

  async #queryRows(
    session: DatabaseSession,
    {
      limit,
      before = Number.MAX_SAFE_INTEGER,
      ...filter
    }: EventFilter & { before?: number | undefined; limit: number },
  ): ReturnType<EventLog['query']> {
    const { first, last } = await readSiteHead(session, this.#options.sealer)
    const [oldest] = first === 0 ? [] : await readRows(session, { after: first - 1, limit: 1 })
    const facts = {
      kept: last === 0 ? 0 : last - first + 1,
      newest: last,
      since: eventEntryOf(oldest?.line ?? '')?.at ?? 0,
    }
    const items: EventEntry[] = []
    const page = new PageOfLines(filter, before, limit, items)
    for (let read = 0; read < queriedLines && !page.isFull; ) {
      const rows = await readRowsBack(session, page.last, linesAtOnce)
      for (const { line } of rows) if (!page.isFull) page.take(Buffer.from(line))
      read += rows.length
      const end = rows.at(-1)
      const isOver = filter.from !== undefined && (eventEntryOf(end?.line ?? '')?.at ?? 0) < filter.from - hourMs
      if (rows.length < linesAtOnce || (isOver && !page.isFull))
        return { items, next: page.isFull ? nextOf(page.last, first) : 0, ...facts }
    }
    return { items, next: nextOf(page.last, first), ...facts }
  }

  async #connected(): Promise<DatabaseSession> {
    if (this.#session?.lost !== undefined) this.#session = undefined
    if (this.#session !== undefined) return this.#session
    const session = await this.#options.connect()
    if (this.#closed) session.destroy()
    else this.#session = session
    return session
  }

  /** Records an error of a reachable database; the store reports an unreachable database. */
  #failed(error: unknown): void {
    if (this.#session === undefined || this.#session.lost !== undefined) return
    const lastError = `the database does not take events: ${error instanceof Error ? error.message : 'unknown'}`
    if (this.#refused === undefined) this.#options.logger.error({ err: error }, 'events cannot be copied to the site')
    this.#refused = { lastError, since: this.#refused?.since ?? Date.now() }
  }
}

const nextOf = (last: number, first: number): number => (last > first ? last : 0)
