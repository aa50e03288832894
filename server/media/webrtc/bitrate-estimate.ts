/** Least that is asked for, in bits per second. */
const least = 150_000
/** Loss is no accident above the one share, and none below the other (draft-ietf-rmcat-gcc, section 6). */
const muchLost = 0.1
const littleLost = 0.02
/** How much more is asked for a second later, where little was lost. */
const growth = 1.08

/** How much a publisher may send, by what is lost of it (draft-ietf-rmcat-gcc, section 6): for one that does not work it out itself. */
export class BitrateEstimate {
  readonly #most: number
  #now: number
  /** In this second: the link's queue has to empty first. */
  #dropped = false

  /** @param most bits per second */
  constructor(most: number) {
    this.#most = most
    this.#now = most
  }

  /** Bits per second. */
  get bitrate(): number {
    return Math.round(this.#now)
  }

  /**
   * Whether it dropped because of a moment in which such a share was lost, 0 to 1: less than came, at once.
   * @param received bits per second that came in this moment
   */
  lost(share: number, received: number): boolean {
    if (share <= muchLost) return false
    this.#become(Math.min(this.#now, received) * (1 - 0.5 * share))
    this.#dropped = true
    return true
  }

  /** A second is over in which such a share was lost, 0 to 1. */
  second(share: number): void {
    if (share < littleLost && !this.#dropped) this.#become(this.#now * growth)
    this.#dropped = false
  }

  #become(bitrate: number): void {
    this.#now = Math.min(this.#most, Math.max(least, bitrate))
  }
}
