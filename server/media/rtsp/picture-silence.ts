/** Silence of a picture after which it has stopped: in stall times of the session, and in parts of its longest gap so far. */
const stallTimes = 12
const longestGaps = 4

/**
 * Tells whether a camera has stopped its picture while its sound goes on. Still cameras send a picture in some seconds only, so the limit is several times that of
 * the whole session (60 s by default), and several times the longest gap between two packets so far. A camera that has sent no picture yet may have none.
 */
export class PictureSilence {
  readonly #leastMs: number
  #place = -1
  #since = 0
  #longestMs = 0

  /** @param stallMs silence after which a whole session has stalled */
  constructor(stallMs: number) {
    this.#leastMs = stallMs * stallTimes
  }

  /**
   * Notes where the picture is. @returns milliseconds of silence once it has stopped; 0 before
   * @param place of its last packet, different with each packet; -1 before the first
   * @param now milliseconds of a clock that never goes back
   */
  note(place: number, now: number): number {
    const silentMs = now - this.#since
    if (place !== this.#place) {
      if (this.#place !== -1) this.#longestMs = Math.max(this.#longestMs, silentMs)
      this.#place = place
      this.#since = now
      return 0
    }
    return place !== -1 && silentMs > Math.max(this.#leastMs, this.#longestMs * longestGaps) ? silentMs : 0
  }
}
