import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { firstBlock, ofTerm, type Term } from '../election/leader.ts'
import type { StoreLogger } from '../notices.ts'
import { system } from '../system/system.ts'
import type { DatabaseSession } from './database-session.ts'

const largestBlock = 10_000

/** Stores the highest reserved number outside the database, so that the database cannot lose it. */
export interface RoomNumberRecord {
  /** The highest stored number; 0: none. */
  readonly highest: number
  /** Stores a number; resolves when it is stored. Never rejects. */
  keep: (reserved: number) => Promise<void>
  /**
   * Lowers the stored number after shutdown, because higher numbers were not assigned; never below a number recorded by
   * `given`. Never rejects.
   */
  giveBack: (given: number) => Promise<void>
  /** Records that numbers up to `highest` were assigned. */
  given: (highest: number) => void
}

/**
 * Room numbers of a leader. Numbers are never reused, even if the database loses its last lines (asynchronous failover,
 * a restored dump). For this, numbers are reserved in blocks. A line is stored only after the block of its room
 * numbers, and the next leader starts after the last block.
 */
export class RoomNumberBlocks {
  readonly #given: { readonly last: number }
  readonly #record: RoomNumberRecord
  #reserved: number
  #block = firstBlock

  /**
   * @param given the highest assigned number; rises with each room
   * @param reserved the highest number reserved when this controller became leader
   */
  constructor(given: { readonly last: number }, reserved: number, record: RoomNumberRecord) {
    this.#given = given
    this.#reserved = reserved
    this.#record = record
  }

  /** The highest assigned number. */
  get last(): number {
    return this.#given.last
  }

  /** The highest reserved number. */
  get reserved(): number {
    return this.#reserved
  }

  /**
   * Reserves a block before the current block ends, because an asynchronous standby may not have a new block yet.
   * @returns false: another controller leads
   */
  async reserve(session: DatabaseSession, { epoch, id }: Term): Promise<boolean> {
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

  /** Releases reserved numbers that were not assigned. No number may be assigned afterwards. */
  async end(): Promise<void> {
    this.#record.given(this.last)
    await this.#record.giveBack(this.last)
  }
}

/** File in the data folder of a controller whose site is in a database. */
const roomNumberFileName = 'room-numbers.txt'

/**
 * Opens the file with this controller's record of the highest reserved room number. If a dump is restored while all
 * controllers are stopped, the database loses its own record of that number.
 * Failures to write are only logged, because the database has the number too.
 * @throws errors of the file system when the file cannot be read
 */
export async function openRoomNumberFile(folder: string, logger: StoreLogger | undefined): Promise<RoomNumberRecord> {
  const path = join(folder, roomNumberFileName)
  let highest = await readNumber(path)
  let given = highest
  let written = Promise.resolve()
  const set = (number: number): Promise<void> => {
    if (number === highest) return written
    highest = number
    // Writes run one at a time; the last number wins.
    written = written
      .then(() => system().files.replace(path, `${number}\n`))
      .catch((error: unknown) => logger?.warn({ err: error }, `${path} cannot be written.`))
    return written
  }
  return {
    get highest() {
      return highest
    },
    keep: (reserved) => set(Math.max(highest, reserved)),
    giveBack: (number) => set(Math.max(given, number)),
    given: (number) => {
      given = Math.max(given, number)
    },
  }
}

async function readNumber(path: string): Promise<number> {
  try {
    const text = await system().files.readText(path)
    return /^\d{1,15}\n$/.test(text) ? Number(text) : 0
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}
