import { type Licence, licenceEnd } from '../../shared/licence.ts'

/** Use of a licence, counted by others. */
export interface LicenceCounters {
  /** Rooms that exist. */
  rooms(): number
  /** People and outgoing users in rooms, all nodes together. */
  users(): number
}

/** The licence of the site against what is used of it. Every question is O(1). */
export class LicenceCheck {
  readonly #licence: () => Licence
  readonly #counters: LicenceCounters
  readonly #now: () => number
  #read: Licence | undefined
  #endsAt = Number.POSITIVE_INFINITY

  /** @param now milliseconds since the epoch */
  constructor(licence: () => Licence, counters: LicenceCounters, now: () => number = Date.now) {
    this.#licence = licence
    this.#counters = counters
    this.#now = now
  }

  /** When it ends, milliseconds since the epoch; Infinity when it does not. */
  endsAt(): number {
    const licence = this.#licence()
    if (licence !== this.#read) {
      this.#read = licence
      this.#endsAt = licenceEnd(licence)
    }
    return this.#endsAt
  }

  expired(): boolean {
    return this.#now() > this.endsAt()
  }

  /** No further room may be created. */
  roomsFull(): boolean {
    const { max_rooms: most } = this.#licence()
    return most > 0 && this.#counters.rooms() >= most
  }

  /** Nobody further may be sent into a room. */
  usersFull(): boolean {
    const { max_users: most } = this.#licence()
    return most > 0 && this.#counters.users() >= most
  }
}
