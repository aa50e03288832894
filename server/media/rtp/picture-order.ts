import { sequenceDistance, sequenceOf, timestampOf } from './packet.ts'

/**
 * Number of pictures with a timestamp before the previous picture's that prove reordering, and length of the window in
 * pictures. A clock change of the camera produces only one such picture.
 */
const enough = 4
const among = 100

/**
 * Detects B-frames from timestamps: only B-frames make pictures arrive in a different order than the display order
 * (RFC 6184, section 5.1: packets are in decoding order, timestamps are presentation times).
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

  /** Records a video packet. Called for every packet, in order of arrival. */
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
