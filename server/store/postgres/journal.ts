import { type Away, StorageAwayError } from '../storage.ts'
import { deposed } from './leader.ts'
import type { Link } from './link.ts'
import type { Session } from './session.ts'
import { isRefusal, saidBy } from './server-answers.ts'

/** Fenced: an epoch that is not in force any more stores nothing. Who raises it waits for this to end, and this for whoever does. */
const append = `with f as (select 1 from roomdesk_leader where id = 1 and epoch = $3 for share)
  insert into roomdesk_journal (seq, epoch, records, line)
  select t.seq, $3, $4, t.line from unnest($1::bigint[], $2::text[]) as t (seq, line) where exists (select 1 from f)`

const fence = 'select 1 from roomdesk_leader where id = 1 and epoch = $1'

/** The journal as its writer sees it: rows with numbers without gaps. Calls must not overlap. */
export class DatabaseJournal {
  readonly #link: Link
  readonly #records: number
  #last: number

  /**
   * @param records schema version of the records
   * @param last number of the last line that is stored
   */
  constructor(link: Link, records: number, last: number) {
    this.#link = link
    this.#records = records
    this.#last = last
  }

  /** Number of the last line that is known to be stored. */
  get last(): number {
    return this.#last
  }

  /** See Storage.append. @throws DeposedError for good, when another controller has taken over */
  async append(lines: readonly string[]): Promise<void> {
    const { session, epoch } = this.#link.current()
    try {
      if (lines.length === 0) await this.#prove(session, epoch)
      else await this.#store(session, epoch, lines)
    } catch (error) {
      if (session.lost === undefined && isRefusal(error)) throw error
      if (session.lost === undefined && this.#link.deposed !== undefined) throw error
      await this.#settle(session, lines.length, error)
    }
  }

  async #store(session: Session, epoch: string, lines: readonly string[]): Promise<void> {
    const numbers = lines.map((_, index) => this.#last + 1 + index)
    // A row is a line: what ends one in a file is left out.
    const rows = lines.map((line) => line.slice(0, -1))
    const { rowCount } = await session.query(append, [numbers, rows, epoch, this.#records], 'append')
    if (rowCount !== lines.length) throw this.#link.depose(await deposed(session))
    this.#last += lines.length
  }

  async #prove(session: Session, epoch: string): Promise<void> {
    const { rowCount } = await session.query(fence, [epoch])
    if (rowCount !== 1) throw this.#link.depose(await deposed(session))
  }

  /** Waits until the database can be asked what became of lines whose answer did not come. */
  async #settle(session: Session, count: number, error: unknown): Promise<void> {
    this.#link.give(session, error)
    let away: Away | undefined
    while (!this.#link.abandoned && (away = this.#link.away()) !== undefined) await away.back
    // Nothing of the connection before can be stored any more: what is not there now never will be.
    if (this.#link.deposed !== undefined) throw this.#link.deposed
    if (!this.#link.abandoned && this.#link.last === this.#last + count) {
      this.#last += count
      return
    }
    throw new StorageAwayError(saidBy(error), { cause: error })
  }
}
