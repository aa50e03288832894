import { firstBlock, ofTerm, type Term } from '../election/leader.ts'
import type { Session } from './database-session.ts'

const largestBlock = 10_000

/** Keeps the highest reserved number where no database can lose it. */
export interface RoomNumberRecord {
  /** The highest that was kept; 0: none. */
  readonly highest: number
  /** Kept when it resolves. Never rejects. */
  keep: (reserved: number) => Promise<void>
  /** Numbers above this were not given: keeps a lower number, but none below what was given as far as is known here. Never rejects. */
  giveBack: (given: number) => Promise<void>
  /** Tells that numbers up to this were given. */
  given: (highest: number) => void
}

/**
 * Room numbers of a leader. They are never reused, also not when the database loses its last lines (asynchronous failover, a dump put back): numbers are reserved in blocks, a line is
 * stored only after the block of its rooms' numbers, and who leads next begins behind it.
 */
export class RoomNumberBlocks {
  readonly #given: { readonly last: number }
  readonly #record: RoomNumberRecord
  #reserved: number
  #block = firstBlock

  /**
   * @param given the highest number that was given; rises with each room
   * @param reserved highest number that was reserved when this controller began to lead
   */
  constructor(given: { readonly last: number }, reserved: number, record: RoomNumberRecord) {
    this.#given = given
    this.#reserved = reserved
    this.#record = record
  }

  /** The highest number that was given. */
  get last(): number {
    return this.#given.last
  }

  /** The highest number that was reserved. */
  get reserved(): number {
    return this.#reserved
  }

  /**
   * Reserves a block before the one in use ends: what an asynchronous standby may not have yet is not used at once.
   * @returns false: another controller leads
   */
  async reserve(session: Session, { epoch, id }: Term): Promise<boolean> {
    if (this.last + this.#block / 2 < this.#reserved) return true
    const wanted = this.last + this.#block
    const { rowCount } = await session.commit(
      `update roomdesk_leader set room_numbers = greatest(room_numbers, $3) where ${ofTerm('$1', '$2')}`,
      [epoch, id, wanted],
    )
    if (rowCount !== 1) return false
    await this.#record.keep(wanted)
    this.#reserved = wanted
    this.#block = Math.min(this.#block * 2, largestBlock)
    return true
  }

  /** Gives back what is reserved and not given: nothing is given any more. */
  async end(): Promise<void> {
    this.#record.given(this.last)
    await this.#record.giveBack(this.last)
  }
}
