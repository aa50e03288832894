import { monotonic } from '../system/time.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import type { StoreLogger } from '../notices.ts'
import type { Change, CollectionName, StoreNotice } from '../store.ts'
import { lastStored, linesFrom, originsUpTo, storedTerms } from './journal-rows.ts'
import type { JournalPosition } from './term-history.ts'
import { clusterTimes } from './timings.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'

/** Confirmed lines that the database no longer has. */
export interface LostLines {
  /** Number of lines; 0: unknown, but at least one. */
  count: number
  /**
   * Time at which the first lost line was stored, in milliseconds since the epoch, precise to about a second;
   * undefined: before this program began to follow the journal.
   */
  since: number | undefined
  /**
   * Records that differed between memory and the database, as `rooms/123`. Some differences may be later changes of the
   * new leader.
   */
  records: readonly string[]
}

/** Loss of an unknown number of lines. */
export const unknownLines = { count: 0, since: undefined } as const

/** Collections that are written with a delay, so that any crash may lose records. */
const writtenBehind: ReadonlySet<CollectionName> = new Set(['sessions', 'account_sessions', 'last_uses', 'meetings'])
/** Maximum number of records named in a message. */
const maxNamed = 10

/** Returns the names of changed records, except records that are written with a delay. */
export function recordsOf(changes: readonly Change[]): string[] {
  return changes
    .filter(({ collection }) => !writtenBehind.has(collection))
    .map(({ collection, key }) => `${collection}/${key}`)
}

/** Returns the message about lost lines. @param shown address of the database */
function lossMessage({ count, since, records }: LostLines, shown: string): string {
  const changes = count === 0 ? 'changes that were' : count === 1 ? 'one change that was' : `${count} changes that were`
  const named = records.slice(0, maxNamed).join(', ')
  const more = records.length > maxNamed ? ` and ${records.length - maxNamed} more` : ''
  const about = records.length === 0 ? '' : ` Records that differ: ${named}${more}.`
  const from = since === undefined ? '' : ` since ${new Date(since).toISOString().slice(0, 19)}Z`
  return `The database ${shown} came back without ${changes} confirmed${from} (an older state was put back, or a standby took over without them): this controller has dropped them, too.${about}`
}

/**
 * Compares the lines up to a position with the database, by their terms. If the database has an unseen term that began
 * before the last line, other lines were stored in place of those in memory. This works even if a snapshot has replaced
 * the lines.
 * @returns undefined: no loss is known
 */
export async function findLost(
  session: DatabaseSession,
  { last, trail }: JournalPosition,
): Promise<Omit<LostLines, 'records'> | undefined> {
  const stored = await storedTerms(session)
  const other = stored.find(
    ({ term, after }, index) => !trail.hasSeen(term) && after < last && (stored[index + 1]?.after ?? last) > after,
  )
  // A leader of an earlier version stores lines, but no term.
  const line = (await originsUpTo(session, last)).findLast(({ term }) => !trail.hasSeen(term))
  const first = Math.min((other?.after ?? last) + 1, line?.seq ?? last + 1, (await lastStored(session)) + 1)
  return first > last ? undefined : { count: last - first + 1, since: trail.timeOf(first) }
}

/**
 * Position that the memory of a controller had reached in its previous role, before its memory was replaced by the
 * state of the database. If the database was restored to an older state meanwhile, this controller may be the only
 * controller with a record of the missing lines.
 */
export class CarriedPosition {
  readonly #position: JournalPosition
  #records: readonly string[] = []
  /** Time of the first check that found fewer lines in the database, by `monotonic()`; 0: no such check. */
  #lessSince = 0

  constructor(position: JournalPosition) {
    this.#position = position
  }

  /** Records the changes by which memory was replaced. */
  replacedBy(changes: readonly Change[]): void {
    this.#records = recordsOf(changes)
  }

  /** Returns the lines that a database with the last line `stored` lacks; undefined: none. */
  missing(stored: number): LostLines | undefined {
    const { last, trail } = this.#position
    const count = last - stored
    return count > 0 ? { count, since: trail.timeOf(stored + 1), records: this.#records } : undefined
  }

  /**
   * Compares the position with the database.
   * @returns `open`: a leader may still store the missing lines again; undefined: no loss is known
   */
  async check(session: DatabaseSession): Promise<LostLines | 'open' | undefined> {
    const { last, lastTerm } = this.#position
    const [first] = await linesFrom(session, last)
    const isThere = Number(first?.seq) === last
    if (first !== undefined && isThere && termOf(first) === lastTerm) return undefined
    if (first === undefined && (await lastStored(session)) < last) {
      if (this.#lessSince === 0) this.#lessSince = monotonic()
      if (monotonic() - this.#lessSince <= clusterTimes.madeGood) return 'open'
    }
    const lost = await findLost(session, this.#position)
    if (lost !== undefined) return { ...lost, records: this.#records }
    return isThere && lastTerm !== undefined ? { ...unknownLines, records: this.#records } : undefined
  }
}

export interface LossNoticesOptions {
  /** Notices found when the data folder was opened. */
  found: StoreNotice[]
  address: DatabaseAddress
  clock: () => number
  logger: StoreLogger | undefined
}

/** Notices about lost changes: for this controller's event log, and for its console once it leads. */
export class LossNotices {
  readonly #options: LossNoticesOptions
  readonly #listeners = new Set<(notice: StoreNotice) => void>()

  constructor(options: LossNoticesOptions) {
    this.#options = options
  }

  /** Notices found when the data folder was opened, and notices added later. */
  get all(): StoreNotice[] {
    return this.#options.found
  }

  add(lost: LostLines): void {
    const { found, address, clock, logger } = this.#options
    const message = lossMessage(lost, address.shown)
    logger?.warn({}, message)
    const { since } = lost
    const notice: StoreNotice = {
      ...{ level: 'warning', at: clock(), code: 'damaged', message, lost: true },
      ...(since === undefined ? {} : { since }),
    }
    found.push(notice)
    for (const listener of this.#listeners) listener(notice)
  }

  /** See `SiteMember.onLost`. */
  onLost(listener: (notice: StoreNotice) => void): () => void {
    for (const notice of this.all) if (notice.lost === true) listener(notice)
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
