import { type Away, StorageAwayError } from '../storage.ts'
import { FencedError } from './database-error.ts'
import { fencedError, hint, ofTerm, type Term } from '../election/leader.ts'
import type { Link } from './link.ts'
import type { JournalPosition, JournalTrail } from '../election/journal-trail.ts'
import { termOf } from './read-state.ts'
import type { RoomNumberBlocks } from './room-number-blocks.ts'
import type { DatabaseResult } from '../system/database-client.ts'
import type { Session } from './database-session.ts'
import { OutcomeUnknownError } from '../storage-error.ts'
import { isRefusal, messageOf } from './server-answers.ts'

/**
 * Fenced: a term that is over stores nothing. Either waits for the other's commit: this statement, and one that raises the epoch. The lines are sent as one text,
 * as a file has them: the text of an array would have to be escaped here and parsed there, quote by quote.
 */
const append = `with f as (select 1 from roomdesk_leader where ${ofTerm('$3', '$5')} for share), stored as (
    insert into roomdesk_journal (seq, epoch, records, line, term)
    select $1::bigint + t.place, $3, $4, t.line, $5 from unnest(string_to_array($2::text, E'\\n')) with ordinality as t (line, place)
    where exists (select 1 from f) returning 1)
  select count(*)::integer as stored, ${hint} from stored`

/** Characters of lines that one statement stores: a site that is restored has some 45 MB, which no statement takes within its deadline. */
const atOnce = 1024 * 1024

/** Numbers below zero: nobody reads these lines, and a snapshot does not remove them. Another controller leads: none is stored. */
const stage = `insert into roomdesk_journal (seq, epoch, records, line, term)
    select -($1::bigint + t.place), $3, $4, t.line, $5 from unnest(string_to_array($2::text, E'\\n')) with ordinality as t (line, place)
    where exists (select 1 from roomdesk_leader where ${ofTerm('$3', '$5')})`

/** All lines that were put there get their numbers, or none. Their text is not written again. */
const appendStaged = `with f as (select 1 from roomdesk_leader where ${ofTerm('$2', '$3')} for share), stored as (
    update roomdesk_journal set seq = $1::bigint - seq where seq < 0 and exists (select 1 from f) returning 1)
  select count(*)::integer as stored, ${hint} from stored`

/** Changes nothing; its commit is confirmed as every change is. */
const confirmed = 'update roomdesk_site set records = records'

/** Deadlines of the last check after this controller stepped down, in milliseconds. */
const lookUp = { connect: 1_000, answer: 1_000 }

const fence = `select 1 from roomdesk_leader where ${ofTerm('$1', '$2')}`

/** The journal as its writer sees it: rows with numbers without gaps. Calls must not overlap. */
export class DatabaseJournal {
  readonly #link: Link
  readonly #records: number
  readonly #roomNumbers: RoomNumberBlocks
  #last: number
  #lastTerm: string | undefined
  readonly #trail: JournalTrail

  /**
   * @param records schema version of the records
   * @param last number of the last line that is stored, and its term: see `termOf`
   */
  constructor(link: Link, records: number, { last, lastTerm, trail }: JournalPosition, roomNumbers: RoomNumberBlocks) {
    this.#link = link
    this.#records = records
    this.#last = last
    this.#lastTerm = lastTerm
    this.#trail = trail
    this.#roomNumbers = roomNumbers
  }

  /** Number of the last line that is surely stored. */
  get last(): number {
    return this.#last
  }

  get position(): JournalPosition {
    return { last: this.#last, lastTerm: this.#lastTerm, trail: this.#trail }
  }

  /** See Storage.append. @throws FencedError for good, when another controller has taken over */
  async append(lines: readonly string[]): Promise<void> {
    const { session, term } = this.#link.current()
    try {
      if (lines.length === 0) await this.#prove(session, term)
      else await this.#store(session, term, lines)
    } catch (error) {
      if (error instanceof FencedError) throw error
      if (session.lost === undefined && isRefusal(error)) throw error
      await this.#settle(session, term, lines.length, error)
    }
  }

  async #store(session: Session, term: Term, lines: readonly string[]): Promise<void> {
    if (!(await this.#roomNumbers.reserve(session, term))) throw this.#link.fence(await fencedError(session))
    // Each ends with a line feed, and holds no other.
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

  /** Many lines are sent one part after the other, and count together: other statements, such as those that renew the lease, come in between. */
  async #storeMany(
    session: Session,
    { epoch, id }: Term,
    lines: readonly string[],
  ): Promise<DatabaseResult<{ stored: number }>> {
    // Left by an attempt that was cut short.
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

  async #prove(session: Session, { epoch, id }: Term): Promise<void> {
    const { rowCount } = await session.query(fence, [epoch, id])
    if (rowCount !== 1) throw this.#link.fence(await fencedError(session))
  }

  /** Waits until the database can be asked what became of lines whose answer did not come. */
  async #settle(session: Session, term: Term, count: number, error: unknown): Promise<void> {
    this.#link.give(session, error)
    for (;;) {
      let away: Away | undefined
      while (!this.#link.abandoned && (away = this.#link.away()) !== undefined) await away.back
      const { fenced, abandoned } = this.#link
      // Nothing of the connection before can be stored any more: what is not there now never will be.
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

  /** Whether the next lines are there, and are ours: another controller may have given them the same numbers. undefined: it cannot be asked. */
  async #isStored({ epoch, id }: Term, count: number): Promise<boolean | undefined> {
    const ours = !this.#link.abandoned
    let session: Session | undefined
    try {
      session = ours ? this.#link.current().session : await this.#link.beside(lookUp)
      // Ours was proved when it came back. A line that is seen may be lost in a failover as long as no later commit is confirmed.
      if (!ours) await session.commit(confirmed)
      const { rows } = await session.query<{ n: number }>(
        'select count(*)::integer as n from roomdesk_journal where seq > $1 and seq <= $2 and epoch = $3 and term = $4',
        [this.#last, this.#last + count, epoch, id],
      )
      return rows[0]?.n === count
    } catch {
      // It stays unknown whether they were stored.
      return undefined
    } finally {
      if (!ours) await session?.close()
    }
  }
}
