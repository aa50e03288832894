/** A machine that has used nearly all of its CPU time for a while. */
export interface BusyMachine {
  /** CPU time in use, in percent of all cores. */
  percent: number
  /** Milliseconds since the epoch. */
  since: number
}

/** CPU time in use from which media has losses, in percent of all cores. */
const busyPercent = 90
/** Minimum duration of such use, in milliseconds. A backup or an export ends earlier. */
const minBusyMs = 60_000

/** Follows the CPU time of the machine. */
export class BusyWatch {
  #since = 0
  #percent = 0
  #at = 0

  /** Takes a sample. @param percent NaN while unknown */
  take(percent: number, at: number): void {
    if (!(percent >= busyPercent)) this.#since = 0
    else this.#since ||= at
    this.#percent = percent
    this.#at = at
  }

  /** The machine as of the latest sample; undefined: it is not busy. */
  get busy(): BusyMachine | undefined {
    if (this.#since === 0 || this.#at - this.#since < minBusyMs) return undefined
    return { percent: this.#percent, since: this.#since }
  }
}
