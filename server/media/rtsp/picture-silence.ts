/** Silence after which a picture counts as stopped: multiples of the session's stall time, and of the longest gap so far. */
const stallFactor = 12
const gapFactor = 4

/**
 * Tells whether a camera has stopped its picture while its sound goes on. Still cameras send a picture in some seconds only, so the limit is several times that of
 * the whole session (60 s by default), and several times the longest gap between two packets so far. A camera that has sent no picture yet may have none.
 */
export class PictureSilence {
  readonly #minMs: number
  #place = -1
  #since = 0
  #maxGapMs = 0

  /** @param stallMs silence after which a whole session has stalled */
  constructor(stallMs: number) {
    this.#minMs = stallMs * stallFactor
  }

  /**
   * Notes the place of the picture. @returns milliseconds of silence once it has stopped; 0 before
   * @param place of its last packet, different with each packet; -1 before the first
   * @param now milliseconds of a clock that never goes back
   */
  note(place: number, now: number): number {
    const silentMs = now - this.#since
    if (place !== this.#place) {
      if (this.#place !== -1) this.#maxGapMs = Math.max(this.#maxGapMs, silentMs)
      this.#place = place
      this.#since = now
      return 0
    }
    return place !== -1 && silentMs > Math.max(this.#minMs, this.#maxGapMs * gapFactor) ? silentMs : 0
  }
}
