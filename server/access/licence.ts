import { type Licence, licenceEnd } from '../../shared/licence.ts'

/** Expiry of the site's licence. All methods are O(1). */
export class LicenceCheck {
  readonly #licence: () => Licence
  readonly #now: () => number
  #read: Licence | undefined
  #endsAt = Number.POSITIVE_INFINITY

  /** @param now milliseconds since the epoch */
  constructor(licence: () => Licence, now: () => number = Date.now) {
    this.#licence = licence
    this.#now = now
  }

  /** Returns the expiry, in milliseconds since the epoch; Infinity: no expiry. */
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
}
