import { type Away, OutcomeUnknownError, StorageAwayError } from '../storage.ts'
import { FencedError } from './database-error.ts'
import { fencedError, hint, ofTerm, type Term } from '../election/leader.ts'
import type { Link } from './link.ts'
import type { JournalPosition, JournalTrail } from '../election/term-history.ts'
import { termOf } from './read-state.ts'
import type { RoomNumberBlocks } from './room-numbers.ts'
import type { DatabaseResult } from '../system/system.ts'
import type { DatabaseSession } from './database-session.ts'
import { isDatabaseRefusal, messageOf } from './server-answers.ts'

/**
 * Appends lines, unless the term has ended (fencing). This statement and a statement that raises the epoch wait for
 * each other's commit.
 * The lines are sent as one text, as in a file: an array would need escaping of every quote, and parsing on the server.
 */
const append = `with f as (select 1 from roomdesk_leader where ${ofTerm('$3', '$5')} for share), stored as (
    insert into roomdesk_journal (seq, epoch, records, line, term)
    select $1::bigint + t.place, $3, $4, t.line, $5 from unnest(string_to_array($2::text, E'\\n')) with ordinality as t (line, place)
    where exists (select 1 from f) returning 1)
  select count(*)::integer as stored, ${hint} from stored`

/**
 * Maximum length of the lines in one statement, in characters. A restored site has about 45 MB, too much for one
 * statement within its deadline.
 */
const atOnce = 1024 * 1024

/**
 * Stages lines under negative numbers, which no reader reads and no snapshot deletes. Stages nothing if another
 * controller leads.
 */
const stage = `insert into roomdesk_journal (seq, epoch, records, line, term)
    select -($1::bigint + t.place), $3, $4, t.line, $5 from unnest(string_to_array($2::text, E'\\n')) with ordinality as t (line, place)
    where exists (select 1 from roomdesk_leader where ${ofTerm('$3', '$5')})`

/**
 * Assigns the final numbers to all staged lines; to none if another controller leads. Does not rewrite the text of the
 * lines.
 */
const appendStaged = `with f as (select 1 from roomdesk_leader where ${ofTerm('$2', '$3')} for share), stored as (
    update roomdesk_journal set seq = $1::bigint - seq where seq < 0 and exists (select 1 from f) returning 1)
  select count(*)::integer as stored, ${hint} from stored`

/** Statement that changes nothing, but whose commit is confirmed like that of a change. */
const confirmed = 'update roomdesk_site set records = records'

/** Deadlines of the last check after this controller has stepped down, in milliseconds. */
const lookUp = { connect: 1_000, answer: 1_000 }

const fence = `select 1 from roomdesk_leader where ${ofTerm('$1', '$2')}`

/** Writes the journal: rows with consecutive numbers. Calls must not overlap. */
export class DatabaseJournal {
  readonly #link: Link
  readonly #records: number
  readonly #roomNumbers: RoomNumberBlocks
  #last: number
  #lastTerm: string | undefined
  readonly #trail: JournalTrail

  /**
   * @param records schema version of the records
   * @param last number of the last stored line, and its term (see `termOf`)
   */
  constructor(link: Link, records: number, { last, lastTerm, trail }: JournalPosition, roomNumbers: RoomNumberBlocks) {
    this.#link = link
    this.#records = records
    this.#last = last
    this.#lastTerm = lastTerm
    this.#trail = trail
    this.#roomNumbers = roomNumbers
  }

  /** Number of the last line that is certainly stored. */
  get last(): number {
    return this.#last
  }

  get position(): JournalPosition {
    return { last: this.#last, lastTerm: this.#lastTerm, trail: this.#trail }
  }

  /** See Storage.append. @throws FencedError when another controller has taken over; permanent */
  async append(lines: readonly string[]): Promise<void> {
    const { session, term } = this.#link.current()
    try {
      if (lines.length === 0) await this.#prove(session, term)
      else await this.#store(session, term, lines)
    } catch (error) {
      if (error instanceof FencedError) throw error
      if (session.lost === undefined && isDatabaseRefusal(error)) throw error
      await this.#settle(session, term, lines.length, error)
    }
  }

  async #store(session: DatabaseSession, term: Term, lines: readonly string[]): Promise<void> {
    if (!(await this.#roomNumbers.reserve(session, term))) throw this.#link.fence(await fencedError(session))
    // Each line ends with a line feed, and contains no other.
    const text = lines.join('').slice(0, -1)
    const stored =
      text.length > atOnce
        ? await this.#storeMany(session, term, lines)
        : await session.commit<{ stored: number }>(
            append,
            [this.#last, text, term.epoch, this.#records, term.id],
            'append',
          )
    if (stored.rows[0]?.stored !== lines.length) throw this.#link.fence(await fencedError(session))
    this.#stored(lines.length, term)
  }

  #stored(count: number, { epoch, id }: Term): void {
    this.#last += count
    if (count === 0) return
    this.#lastTerm = termOf({ epoch, term: id })
    this.#trail.add(this.#last, this.#lastTerm)
  }

  /**
   * Sends many lines in parts, and stores all of them atomically. Other statements, such as renewals of the lease, run
   * between the parts.
   */
  async #storeMany(
    session: DatabaseSession,
    { epoch, id }: Term,
    lines: readonly string[],
  ): Promise<DatabaseResult<{ stored: number }>> {
    // Lines may be left over from an interrupted attempt.
    await session.query('delete from roomdesk_journal where seq < 0')
    for (let from = 0; from < lines.length; ) {
      let [to, length] = [from, 0]
      while (to < lines.length && (to === from || length + (lines[to]?.length ?? 0) <= atOnce))
        length += lines[to++]?.length ?? 0
      const text = lines.slice(from, to).join('').slice(0, -1)
      const { rowCount } = await session.commit(stage, [from, text, epoch, this.#records, id], 'stage')
      if (rowCount !== to - from) throw this.#link.fence(await fencedError(session))
      from = to
    }
    return await session.commit<{ stored: number }>(appendStaged, [this.#last, epoch, id], 'append staged')
  }

  async #prove(session: DatabaseSession, { epoch, id }: Term): Promise<void> {
    const { rowCount } = await session.query(fence, [epoch, id])
    if (rowCount !== 1) throw this.#link.fence(await fencedError(session))
  }

  /** Waits until the database can report whether unconfirmed lines were stored. */
  async #settle(session: DatabaseSession, term: Term, count: number, error: unknown): Promise<void> {
    this.#link.give(session, error)
    for (;;) {
      let away: Away | undefined
      while (!this.#link.abandoned && (away = this.#link.away()) !== undefined) await away.back
      const { fenced, abandoned } = this.#link
      // From now on, nothing from the previous connection can be stored: lines that are missing now stay missing.
      const stored = count === 0 ? false : await this.#isStored(term, count)
      if (stored === true) {
        this.#stored(count, term)
        return
      }
      // Unless a later term has begun, a statement of the lost connection may still run.
      const isCertain = fenced !== undefined || !abandoned || count === 0
      if (stored === false && isCertain) throw fenced ?? new StorageAwayError(messageOf(error), { cause: error })
      if (abandoned) throw new OutcomeUnknownError(messageOf(fenced ?? error), { cause: error })
    }
  }

  /**
   * Whether the next lines exist in our own term: another controller may have used the same numbers. undefined: the
   * database cannot be queried.
   */
  async #isStored({ epoch, id }: Term, count: number): Promise<boolean | undefined> {
    const ours = !this.#link.abandoned
    let session: DatabaseSession | undefined
    try {
      session = ours ? this.#link.current().session : await this.#link.beside(lookUp)
      // Our own connection was proved when it was restored. On another connection, a visible line may still be lost in
      // a failover until a later commit is confirmed.
      if (!ours) await session.commit(confirmed)
      const { rows } = await session.query<{ n: number }>(
        'select count(*)::integer as n from roomdesk_journal where seq > $1 and seq <= $2 and epoch = $3 and term = $4',
        [this.#last, this.#last + count, epoch, id],
      )
      return rows[0]?.n === count
    } catch {
      // It stays unknown whether the lines were stored.
      return undefined
    } finally {
      if (!ours) await session?.close()
    }
  }
}
