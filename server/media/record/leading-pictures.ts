import type { PictureFrame } from './track-format.ts'

/**
 * Finds the pictures that are decoded behind a key picture and shown before it (ITU-T H.265, section 3.75: leading pictures). They may need the group before, so that a segment that
 * begins with their key picture begins where the first of them is shown.
 */
export class LeadingPictures {
  /** Key picture whose leading pictures may still come. */
  #key: PictureFrame | undefined
  /** Latest ticks so far, and before that key picture. */
  #latest = -Infinity
  #before = -Infinity

  /** Takes each picture, in decoding order. Leading pictures come first behind their key picture. */
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

  /** Whether leading pictures of this picture may still come. */
  mayCome(frame: PictureFrame): boolean {
    return frame === this.#key
  }

  /** Forgets everything: what follows is of another time. */
  restart(): void {
    this.#key = undefined
    this.#latest = -Infinity
  }
}
