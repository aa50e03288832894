import { DocumentAdapter, newWriteQueue } from '../files/document-adapter.ts'
import { documentNames } from '../files/documents.ts'
import type { State } from '../state.ts'
import type { Away, Storage } from '../storage.ts'
import type { DatabaseAddress } from './database-address.ts'
import { DatabaseJournal } from './database-journal.ts'
import type { JournalPosition, JournalTrail } from '../election/term-history.ts'
import type { WonTerm, Term } from '../election/leader.ts'
import { Link } from './link.ts'
import type { DatabaseSession } from './database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import type { RoomNumberBlocks } from './room-numbers.ts'
import { freeze, type SnapshotHead, writeSnapshot } from './snapshot-rows.ts'

export interface DatabaseStorageOptions {
  address: DatabaseAddress
  deadlines: SessionDeadlines
  session: DatabaseSession
  won: WonTerm
  state: State
  /** Schema version of the records. */
  version: number
  roomNumbers: RoomNumberBlocks
  clock: () => number
  /** Number of the last stored line. */
  last: number
  /** Term of the last line (see `termOf`); undefined: only a snapshot holds the line. */
  lastTerm: string | undefined
  trail: JournalTrail
  journalBytes: number
  snapshotBytes: number
  /** Time of the newest snapshot, in milliseconds since the epoch. */
  snapshotAt: number
  /** Called with the number of confirmed lines that the database had lost, and that were stored again. */
  onMadeGood: (lines: number) => void
}

/** Stores journal lines and snapshots as rows of a PostgreSQL database. */
export class DatabaseStorage implements Storage {
  readonly medium = 'database'
  readonly #options: DatabaseStorageOptions
  readonly #link: Link
  readonly #journal: DatabaseJournal
  #journalBytes: number
  #snapshotBytes: number
  #snapshotAt: number

  constructor(options: DatabaseStorageOptions) {
    const { address, deadlines, session, won, version, last, lastTerm, trail, roomNumbers } = options
    this.#options = options
    this.#journalBytes = options.journalBytes
    this.#snapshotBytes = options.snapshotBytes
    this.#snapshotAt = options.snapshotAt
    const makeGood = (term: Term, found: number): Promise<number> => this.#makeGood(term, found)
    const confirmed = (): number => this.#journal.last
    this.#link = new Link({ address, deadlines, session, won, last, confirmed, makeGood, roomNumbers })
    this.#journal = new DatabaseJournal(this.#link, version, { last, lastTerm, trail }, roomNumbers)
  }

  get link(): Link {
    return this.#link
  }

  /** Stores the changes that memory contains and the database lacks. @param found number of the database's last line */
  async bringUp(found: number): Promise<void> {
    await this.#makeGood(this.#link.term, found)
  }

  /** Journal position of the state in memory. */
  get position(): JournalPosition {
    return this.#journal.position
  }

  /** The highest room number assigned. */
  get roomNumber(): number {
    return this.#options.roomNumbers.last
  }

  get journalBytes(): number {
    return this.#journalBytes
  }

  get snapshotBytes(): number {
    return this.#snapshotBytes
  }

  get snapshotAt(): number {
    return this.#snapshotAt
  }

  async append(lines: readonly string[]): Promise<void> {
    await this.#journal.append(lines)
    for (const line of lines) this.#journalBytes += Buffer.byteLength(line)
  }

  away(): Away | undefined {
    return this.#link.away()
  }

  onAway(listener: () => void): void {
    this.#link.onAway(listener)
  }

  async beginSnapshot(): Promise<() => Promise<void>> {
    // Throws early: a controller that cannot store starts no snapshot.
    this.#link.current()
    const term = (): Term => this.#link.current().term
    const head = this.#head()
    const frozen = freeze(this.#options.state)
    const replayed = this.#journalBytes
    return async () => {
      const { address, deadlines } = this.#options
      const written = writeSnapshot(address, deadlines, head, frozen, term, this.#link.ended)
      this.#snapshotBytes = await written.catch((error: unknown) => {
        throw this.#link.fenced ?? error
      })
      this.#snapshotAt = head.writtenAt
      this.#journalBytes -= replayed
    }
  }

  /** Writes the backup as files, too, so that it can be restored on a site of either kind. */
  async writeDocuments(folder: string): Promise<void> {
    const { state, version, roomNumbers, clock } = this.#options
    const document = { first_segment: 1, written_at: clock(), room_number: roomNumbers.last, state }
    const queue = newWriteQueue()
    // All documents are of the same instant: each adapter copies the state in memory when `write` is called.
    const written = documentNames.map((name) => {
      const adapter = new DocumentAdapter({ folder, name, version, queue, read: async () => document })
      return adapter.write(document)
    })
    await Promise.all(written)
  }

  abandon(): void {
    this.#link.abandon()
  }

  async close(): Promise<void> {
    await this.#link.close()
    await this.#options.roomNumbers.end()
  }

  #head(): SnapshotHead {
    const { version, roomNumbers, clock } = this.#options
    return { seq: this.#journal.last, records: version, roomNumber: roomNumbers.last, writtenAt: clock() }
  }

  /**
   * Writes a full snapshot if the database lacks changes that were confirmed to clients. Memory contains all confirmed
   * changes.
   * @param found number of the last line in the database
   * @returns number of the last line stored
   */
  async #makeGood(term: Term, found: number): Promise<number> {
    const { address, deadlines, state, onMadeGood } = this.#options
    const lines = this.#journal.last - found
    if (lines <= 0) return found
    const head = this.#head()
    this.#snapshotBytes = await writeSnapshot(address, deadlines, head, freeze(state), () => term, this.#link.ended)
    this.#snapshotAt = head.writtenAt
    this.#journalBytes = 0
    onMadeGood(lines)
    return head.seq
  }
}
