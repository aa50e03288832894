import { monotonic, turn } from '../system/time.ts'
import { decodeLine } from '../journal/journal-line.ts'
import { type Migrations, migrateRecord, StoreVersionError } from '../migrations.ts'
import type { FollowedStore } from './site-member.ts'
import {
  applyChange,
  ChangeListeners,
  changeOf,
  changesBetween,
  collectionNames,
  emptyState,
  type State,
  toChange,
} from '../state.ts'
import type { Change, ChangeListener, CollectionName, Collections } from '../store.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { type DatabaseState, readSiteState, termOf } from '../postgres/read-state.ts'
import { longAnswer, DatabaseSession } from '../postgres/database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { CarriedPosition, findLost, type LossNotices, type LostLines, recordsOf, unknownLines } from './lost-lines.ts'
import { head, type LineRow, linesAtOnce, linesFrom, storedTerms } from './journal-rows.ts'
import { type JournalPosition, JournalTrail } from './term-history.ts'
import { clusterTimes } from './timings.ts'

export interface FollowerOptions {
  address: DatabaseAddress
  deadlines: SessionDeadlines
  migrations: Migrations
  /** State in memory of the previous membership, used until the database is read. */
  before: { followed: Pick<FollowedStore, 'all'>; position: JournalPosition | undefined } | undefined
  /** Receives lines that the database has lost. These lines are removed from memory, too. */
  losses: Pick<LossNotices, 'add'>
  onError: (error: unknown) => void
}

/**
 * Follows the journal in memory, line by line and without gaps. A number and a term identify a line. Calls must not
 * overlap.
 * The state is read again from the newest snapshot if the last line in memory differs from the stored line with the
 * same number, or if the next line was already deleted.
 */
export class Follower implements FollowedStore {
  readonly #options: Omit<FollowerOptions, 'before'>
  /** The records in memory; the maps are never replaced. */
  readonly state: State = emptyState()
  readonly #listeners = new ChangeListeners()
  #last = 0
  /**
   * Term of the last line; undefined: memory was read from a snapshot, and the journal has no line with the number
   * `#last`.
   */
  #lastTerm: string | undefined
  #trail = new JournalTrail()
  /** Term of the leader when the last line was last verified. */
  #verified = ''
  /** Result of the last full read; undefined: none yet. */
  #read: DatabaseState | undefined
  #roomNumber = 0
  /** Lines and bytes followed since the last full read. */
  #followed = { lines: 0, bytes: 0 }
  #lessSince = 0
  /**
   * Journal position before the last change of role; undefined as soon as it is known whether the database has all
   * lines up to this position.
   */
  #carried: CarriedPosition | undefined

  constructor(options: FollowerOptions) {
    const { before, ...lasting } = options
    this.#options = lasting
    if (before === undefined) return
    if (before.position !== undefined) this.#carried = new CarriedPosition(before.position)
    for (const collection of collectionNames)
      for (const [key, value] of before.followed.all(collection))
        applyChange(this.state, changeOf(collection, key, value))
  }

  /** Number of the last line in memory. */
  get last(): number {
    return this.#last
  }

  /** Journal position of memory; undefined: nothing was read yet. */
  get position(): JournalPosition | undefined {
    return this.#read === undefined ? undefined : this.#position
  }

  /** Origin of the lines in memory. */
  get trail(): JournalTrail {
    return this.#trail
  }

  get #position(): JournalPosition {
    return { last: this.#last, lastTerm: this.#lastTerm, trail: this.#trail }
  }

  /** The highest room number assigned. */
  get roomNumber(): number {
    return this.#roomNumber
  }

  /** Result of the last full read, including damage; undefined: nothing was read yet. */
  get read(): DatabaseState | undefined {
    return this.#read
  }

  /** Returns the approximate size of the lines after a snapshot, in bytes. */
  bytesBehind(seq: number): number {
    const { last = 0, journalBytes = 0, snapshotSeq = 0 } = this.#read ?? {}
    const lines = last - snapshotSeq + this.#followed.lines
    if (lines <= 0) return 0
    return Math.round(((journalBytes + this.#followed.bytes) / lines) * Math.max(0, this.#last - seq))
  }

  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined {
    const map: Map<string, Collections[C]> = this.state[collection]
    return map.get(key)
  }

  all<C extends CollectionName>(collection: C): ReadonlyMap<string, Collections[C]> {
    return this.state[collection]
  }

  onChange(listener: ChangeListener, of?: readonly CollectionName[]): () => void {
    return this.#listeners.add(listener, of)
  }

  /**
   * Applies newly stored lines to memory.
   * @param term current term just before the call (see `termOf`)
   * @throws StoreVersionError when a newer Roomdesk stores in the database
   */
  async follow(session: DatabaseSession, term: string): Promise<void> {
    if (this.#read === undefined) await this.#begin(term)
    const outcome = await this.#carried?.check(session)
    if (outcome !== 'open') this.#carried = undefined
    if (typeof outcome === 'object') this.#options.losses.add(outcome)
    for (;;) {
      const rows = await linesFrom(session, this.#last)
      const relation = await this.#relation(session, rows[0], term)
      if (relation === 'lost' || relation === 'other') {
        const lost = (await findLost(session, this.#position)) ?? (relation === 'lost' ? unknownLines : undefined)
        await this.#begin(term, lost)
      }
      if (relation !== 'ours') continue
      const lines = Number(rows[0]?.seq) === this.#last ? rows.slice(1) : rows
      for (const row of lines) if (!this.#take(row)) break
      if (lines.length > 0 && Number(lines.at(-1)?.seq) !== this.#last) await this.#begin(term)
      else if (rows.length < linesAtOnce) return
      await turn()
    }
  }

  /**
   * Compares the stored journal with the last line in memory. `ours`: the journal continues the last line; `other`: the
   * journal continues another line; `lost`: the journal lacks lines that are in memory; `again`: a line was stored
   * during the comparison.
   * @param first row with the number of the last line or, if this row was deleted, the next row
   */
  async #relation(
    session: DatabaseSession,
    first: LineRow | undefined,
    term: string,
  ): Promise<'ours' | 'other' | 'lost' | 'again'> {
    const changedHands = this.#verified !== term
    if (first !== undefined && Number(first.seq) === this.#last) {
      // `other`: a line that only a snapshot contained is stored in the journal again. `lost`: the database was
      // restored to an older state, and another line was stored with this number.
      if (this.#lastTerm !== termOf(first)) return this.#lastTerm === undefined ? 'other' : 'lost'
    } else if (first !== undefined) {
      if (Number(first.seq) !== this.#last + 1 || changedHands) return 'other'
    } else if (this.#lastTerm !== undefined || changedHands) {
      const { rows } = await session.query<{ seq: string; next: boolean }>(
        `select h.seq, exists (select 1 from roomdesk_journal where seq = $1) as next from (${head}) as h`,
        [this.#last + 1],
      )
      if (rows[0]?.next === true) return 'again'
      const stored = Number(rows[0]?.seq)
      if (stored < this.#last) return this.#lessForLong() ? 'lost' : 'ours'
      if (stored > this.#last || changedHands) return 'other'
      this.#lastTerm = undefined
    }
    this.#lessSince = 0
    this.#verified = term
    return 'ours'
  }

  /** Records that this controller now leads: no other controller will store missing lines again. */
  ledBy(): void {
    const lost = this.#carried?.missing(this.#last)
    this.#carried = undefined
    if (lost !== undefined) this.#options.losses.add(lost)
  }

  #lessForLong(): boolean {
    const now = monotonic()
    if (this.#lessSince === 0) this.#lessSince = now
    return now - this.#lessSince > clusterTimes.madeGood
  }

  /** Applies a line to memory. @returns false when the line does not follow the last line, or is damaged */
  #take({ seq, epoch, term, records, line }: LineRow): boolean {
    const { migrations } = this.#options
    if (Number(seq) !== this.#last + 1) return false
    if (records > migrations.current) throw this.#newer(records)
    const bytes = Buffer.from(line)
    const decoded = decodeLine(bytes, 0, bytes.length)
    if (decoded?.kind !== 'changes') return false
    const changes: Change[] = []
    for (const record of decoded.changes)
      for (const each of records === migrations.current ? [record] : migrateRecord(record, records, migrations)) {
        const change = toChange(each)
        if (change !== undefined) changes.push(change)
      }
    this.#last++
    this.#lastTerm = termOf({ epoch, term })
    this.#trail.add(this.#last, this.#lastTerm)
    this.#followed.lines++
    this.#followed.bytes += bytes.length + 1
    this.#apply(changes)
    return true
  }

  /**
   * Reads one consistent state, and notifies listeners of every difference.
   * @param lost lines that are in memory but not in the database: reported with the differences
   */
  async #begin(term: string, lost?: Omit<LostLines, 'records'>): Promise<void> {
    const { address, deadlines, migrations } = this.#options
    const session = await DatabaseSession.open(address, deadlines, longAnswer)
    try {
      await session.query('begin isolation level repeatable read, read only')
      const read = await readSiteState(session, migrations, address)
      if (read.newest > migrations.current) throw this.#newer(read.newest)
      const terms = (await storedTerms(session)).map((stored) => stored.term)
      const changes = changesBetween(this.state, read.state)
      if (this.#read === undefined) this.#carried?.replacedBy(changes)
      this.#last = read.last
      this.#lastTerm = read.lastTerm
      this.#trail = new JournalTrail(read.lastTerm === undefined ? terms : [...terms, read.lastTerm])
      this.#verified = term
      this.#lessSince = 0
      this.#followed = { lines: 0, bytes: 0 }
      this.#read = { ...read, state: this.state }
      this.#roomNumber = Math.max(this.#roomNumber, read.roomNumber)
      this.#apply(changes)
      if (lost !== undefined) this.#options.losses.add({ ...lost, records: recordsOf(changes) })
    } finally {
      await session.close()
    }
  }

  #apply(changes: readonly Change[]): void {
    const before = changes.map((change) => {
      if (change.collection === 'rooms') this.#roomNumber = Math.max(this.#roomNumber, change.value?.id ?? 0)
      return applyChange(this.state, change)
    })
    if (changes.length === 0) return
    this.#listeners.notify(changes, before, (run) => {
      try {
        run()
      } catch (error) {
        this.#options.onError(error)
      }
    })
  }

  #newer(version: number): StoreVersionError {
    const file = `the database ${this.#options.address.shown}`
    return new StoreVersionError([{ file, version }], this.#options.migrations.current)
  }
}
