/** Least that is asked for, in bits per second. */
const least = 150_000

/** How much a publisher may send, by what is lost of it (draft-ietf-rmcat-gcc, section 6): less above 10 %, more below 2 %. */
export class BitrateEstimate {
  readonly #most: number
  #now: number

  /** @param most bits per second */
  constructor(most: number) {
    this.#most = most
    this.#now = most
  }

  /** The estimate after one more report. `lost`: 0 to 1. */
  after(lost: number): number {
    if (lost > 0.1) this.#now *= 1 - 0.5 * lost
    else if (lost < 0.02) this.#now *= 1.08
    this.#now = Math.min(this.#most, Math.max(least, this.#now))
    return Math.round(this.#now)
  }
}
