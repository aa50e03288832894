import { sequenceDistance, sequenceOf, timestampOf } from './packet.ts'

/**
 * Number of pictures with an earlier timestamp than the previous one, and the number of pictures among which they must
 * occur. A change of the camera's clock produces only one.
 */
const enough = 4
const among = 100

/**
 * Detects from timestamps whether pictures arrive in another order than they are shown in, which only B-frames cause
 * (RFC 6184, section 5.1: timestamps are of presentation, packets in decoding order).
 */
export class PictureOrder {
  #sequence = -1
  #timestamp = -1
  #pictures = 0
  #earlier = 0
  #reordered = false

  get reordered(): boolean {
    return this.#reordered
  }

  /** Takes each video packet in order of arrival. */
  note(packet: Buffer): void {
    if (this.#reordered) return
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    // Over UDP, packets may be reordered.
    const follows = this.#sequence < 0 || sequenceDistance(this.#sequence, sequence) === 1
    this.#sequence = sequence
    if (timestamp === this.#timestamp) return
    if (follows && this.#timestamp >= 0 && (timestamp - this.#timestamp) >> 0 < 0) this.#earlier += 1
    this.#timestamp = timestamp
    this.#pictures += 1
    if (this.#earlier >= enough) this.#reordered = true
    if (this.#pictures < among) return
    this.#pictures = 0
    this.#earlier = 0
  }
}
