import { baseIndexOf, pictureIdOf, picturesAhead, shiftIdentifiers } from '../rtp/vp8-identifiers.ts'
import type { Stretch } from './sent-video.ts'

/** Numbers of VP8 pictures (RFC 7741, section 4.2) that go on from one stretch to the next. */
export class Vp8Continuity {
  #begins = false
  /** Numbers of the last picture that was sent; -1 before the first. */
  #pictureId = -1
  #baseIndex = -1

  /** Notes that the next packet is the first of its stretch. */
  begin(): void {
    this.#begins = true
  }

  /**
   * Writes the viewer's numbers into a packet, and notes in its stretch how far they are moved.
   * @param at offset of the packet's picture identifier
   */
  apply(packet: Buffer, at: number, stretch: Stretch | undefined): void {
    if (this.#begins && stretch !== undefined && this.#pictureId >= 0) {
      stretch.pictures = this.#pictureId + 1 - pictureIdOf(packet, at)
      stretch.bases = this.#baseIndex + 1 - Math.max(0, baseIndexOf(packet, at))
    }
    this.#begins = false
    const { pictures = 0, bases = 0 } = stretch ?? {}
    if (pictures !== 0 || bases !== 0) shiftIdentifiers(packet, at, pictures, bases)
    const pictureId = pictureIdOf(packet, at)
    if (this.#pictureId >= 0 && picturesAhead(this.#pictureId, pictureId) <= 0) return
    this.#pictureId = pictureId
    this.#baseIndex = baseIndexOf(packet, at)
  }
}
