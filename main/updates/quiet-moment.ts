/** Time without people in rooms before a restart, in milliseconds. */
const quietMs = 5 * 60_000
/** Interval between two checks for a quiet moment, in milliseconds. */
export const lookMs = 30_000

/** Detects a quiet moment for a restart: five minutes without people in rooms. */
export class QuietMoment {
  #since = 0

  /** Records whether people are in a room; undefined: unknown. @returns whether it has been quiet for long enough */
  look(isOccupied: boolean | undefined, now = Date.now()): boolean {
    if (isOccupied !== false) this.#since = 0
    else if (this.#since === 0) this.#since = now
    return this.#since !== 0 && now - this.#since >= quietMs
  }
}
