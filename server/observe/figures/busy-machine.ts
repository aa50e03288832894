/** A machine whose CPU has been in use nearly whole for a while. */
export interface BusyMachine {
  /** CPU time in use, in percent of all cores. */
  percent: number
  /** Milliseconds since the epoch. */
  since: number
}

/** CPU time from which media suffers, in percent of all cores, and for how long it has to last, in milliseconds: a backup or an export is over before. */
const busyPercent = 90
const lastsMs = 60_000

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

  /** The machine as of the latest sample; undefined: it has time left. */
  get busy(): BusyMachine | undefined {
    if (this.#since === 0 || this.#at - this.#since < lastsMs) return undefined
    return { percent: this.#percent, since: this.#since }
  }
}
