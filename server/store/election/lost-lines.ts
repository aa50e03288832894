import { monotonic } from '../system/time.ts'
import type { Session } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import type { Change, CollectionName } from '../store.ts'
import type { JournalPosition } from './journal-position.ts'
import { lastStored, linesAtOnce, linesFrom } from './journal-lines.ts'
import { clusterTimes } from './timings.ts'

/** Confirmed lines that the database does not have any more. */
export interface LostLines {
  /** How many; 0: it cannot be told, at least one. */
  count: number
  /** Records in which memory differed from the database, as `rooms/123`. Some may be later changes of the new leader. */
  records: readonly string[]
}

/** Collections whose records are stored behind, and may be lost in any crash. */
const writtenBehind: ReadonlySet<CollectionName> = new Set(['sessions', 'account_sessions', 'last_uses', 'meetings'])
/** Records that a message names. */
const maxNamed = 10

/** Names of the records that changes are about. */
export function recordsOf(changes: readonly Change[]): string[] {
  return changes
    .filter(({ collection }) => !writtenBehind.has(collection))
    .map(({ collection, key }) => `${collection}/${key}`)
}

/** Message about lost lines. @param shown address of the database */
export function lossMessage({ count, records }: LostLines, shown: string): string {
  const changes = count === 0 ? 'changes that were' : count === 1 ? 'one change that was' : `${count} changes that were`
  const named = records.slice(0, maxNamed).join(', ')
  const more = records.length > maxNamed ? ` and ${records.length - maxNamed} more` : ''
  const about = records.length === 0 ? '' : ` Records that differ: ${named}${more}.`
  return `The database ${shown} came back without ${changes} confirmed (an older state was put back, or a standby took over without them): this controller has dropped them, too.${about}`
}

/** Counts the lines up to `last` that the database does not have, or has others of the present term in their place. */
export async function countLost(session: Session, last: number, term: string): Promise<number> {
  const missing = last - (await lastStored(session))
  if (missing > 0) return missing
  const rows = await linesFrom(session, Math.max(0, last - linesAtOnce + 1))
  return rows.filter((row) => Number(row.seq) <= last && termOf(row) === term).length
}

/**
 * How far the memory of a controller came that has led or followed before, and was replaced by the state of the database. If the database went back meanwhile, this controller may be
 * the only one that knows what it lacks.
 */
export class CarriedPosition {
  readonly #position: JournalPosition
  #records: readonly string[] = []
  /** By `monotonic()`; 0: the database has not been seen with less. */
  #lessSince = 0

  constructor(position: JournalPosition) {
    this.#position = position
  }

  /** Notes the changes by which memory was replaced. */
  replacedBy(changes: readonly Change[]): void {
    this.#records = recordsOf(changes)
  }

  /** What is missing in a database whose last line is `stored`. */
  missing(stored: number): LostLines | undefined {
    const count = this.#position.last - stored
    return count > 0 ? { count, records: this.#records } : undefined
  }

  /** Compares with the database. @returns `open`: a leader may still store again what is missing; undefined: nothing is known to be lost */
  async check(session: Session, term: string): Promise<LostLines | 'open' | undefined> {
    const { last, lastTerm } = this.#position
    const [first] = await linesFrom(session, last)
    if (first === undefined) {
      if ((await lastStored(session)) >= last) return undefined
      if (this.#lessSince === 0) this.#lessSince = monotonic()
      if (monotonic() - this.#lessSince <= clusterTimes.madeGood) return 'open'
    } else if (Number(first.seq) !== last || lastTerm === undefined || termOf(first) === lastTerm) return undefined
    return { count: await countLost(session, last, term), records: this.#records }
  }
}
