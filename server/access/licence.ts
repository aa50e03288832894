import { type Licence, licenceEnd } from '../../shared/licence.ts'

/** Current usage covered by a licence. */
export interface LicenceCounters {
  /** Number of existing rooms. */
  rooms(): number
  /** Number of people and outgoing users in rooms, on all nodes together. */
  users(): number
}

/** Compares the licence of the site with its usage. All methods are O(1). */
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

  /** Returns the expiry, in milliseconds since the epoch; Infinity without one. */
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

  /** Whether no more rooms may be created. */
  roomsFull(): boolean {
    const { max_rooms: maxRooms } = this.#licence()
    return maxRooms > 0 && this.#counters.rooms() >= maxRooms
  }

  /** Whether no more users may enter rooms. */
  usersFull(): boolean {
    const { max_users: maxUsers } = this.#licence()
    return maxUsers > 0 && this.#counters.users() >= maxUsers
  }
}
