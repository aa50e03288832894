import type { PictureFrame } from './track-format.ts'

/**
 * Finds pictures that follow a key picture in decoding order and precede it in output order (ITU-T H.265, section 3.75:
 * leading pictures). They may need the previous group. A continuing recording therefore begins its segment where the
 * first of them is shown.
 */
export class LeadingPictures {
  /** Key picture that may still have leading pictures. */
  #key: PictureFrame | undefined
  /** Latest ticks so far, and before that key picture. */
  #latest = -Infinity
  #before = -Infinity

  /** Takes each picture in decoding order. Leading pictures directly follow their key picture. */
  note(frame: PictureFrame): void {
    const { ticks, key, leads = false } = frame
    const leader = this.#key
    if (leader !== undefined && !key && ticks < leader.ticks) {
      if (ticks > this.#before) leader.startTicks = Math.min(ticks, leader.startTicks ?? ticks)
      return
    }
    this.#key = key && leads ? frame : undefined
    this.#before = this.#latest
    this.#latest = Math.max(this.#latest, ticks)
  }

  /** Whether leading pictures of this picture may still follow. */
  mayCome(frame: PictureFrame): boolean {
    return frame === this.#key
  }

  /** Resets the state before pictures with unrelated times. */
  restart(): void {
    this.#key = undefined
    this.#latest = -Infinity
  }
}
