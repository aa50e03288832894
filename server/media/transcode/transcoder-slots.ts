import { soundsForPicture } from '../../../shared/media/ffmpeg.ts'

/** User of a transcoder. */
export interface SlotHolder {
  /** Sound alone is made with a fraction of the work. */
  readonly kind: 'picture' | 'sound'
  /** Nobody watches any more: it gives its place to who needs it. */
  readonly idle: boolean
  /** Its place is another's. */
  giveWay(): void
  /** A place has become free. */
  retry(): void
}

/** How many transcoders run at once: a machine can make so many pictures, and no more. */
export class TranscoderSlots {
  readonly #holders = new Set<SlotHolder>()
  readonly #waiting = new Set<SlotHolder>()
  #limit: number

  /** @param limit of those of pictures */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs beyond a smaller limit go on. */
  set limit(limit: number) {
    this.#limit = limit
    this.#wake()
  }

  limitOf(kind: SlotHolder['kind']): number {
    return kind === 'picture' ? this.#limit : this.#limit * soundsForPicture
  }

  used(kind: SlotHolder['kind']): number {
    return Array.from(this.#holders).filter((holder) => holder.kind === kind && !holder.idle).length
  }

  /** Whether it has a place now, its own from before or a new one. */
  take(holder: SlotHolder): boolean {
    if (this.#holders.has(holder)) return true
    const taken = Array.from(this.#holders).filter(({ kind }) => kind === holder.kind)
    if (taken.length >= this.limitOf(holder.kind)) {
      const idle = taken.find((other) => other.idle)
      if (idle === undefined) return false
      this.#holders.delete(idle)
      idle.giveWay()
    }
    this.#waiting.delete(holder)
    this.#holders.add(holder)
    return true
  }

  /** Waits for a slot: `retry` is called when there may be one. */
  wait(holder: SlotHolder): void {
    this.#waiting.add(holder)
  }

  /** It needs no place any more. */
  leave(holder: SlotHolder): void {
    this.#waiting.delete(holder)
    if (this.#holders.delete(holder)) this.#wake()
  }

  #wake(): void {
    for (const holder of [...this.#waiting]) holder.retry()
  }
}
