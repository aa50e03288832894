import { sequenceDistance, sequenceOf, timestampOf } from './packet.ts'

/** So many pictures that are shown before the one sent ahead of them, among so many: a camera's clock that is set makes one. */
const enough = 4
const among = 100

/**
 * Tells by the timestamps whether pictures come in another order than they are shown in, which only B-frames do (RFC 6184, section 5.1: timestamps are of
 * presentation, packets in the order of decoding).
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

  /** Each packet of video, in the order of arrival. */
  note(packet: Buffer): void {
    if (this.#reordered) return
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    // Over UDP, packets overtake each other.
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
