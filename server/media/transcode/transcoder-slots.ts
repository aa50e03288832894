import { soundsForPicture } from '../../../shared/media/ffmpeg.ts'

export interface SlotHolder {
  /** Kind of conversion; sound alone takes a fraction of the work. */
  readonly kind: 'picture' | 'sound'
  /** Whether there are no viewers, so that another holder may take the slot. */
  readonly idle: boolean
  /** Called when another holder has taken the slot. */
  giveWay(): void
  /** Called when a slot may be free. */
  retry(): void
}

/** Limits the number of transcoders that run at once. */
export class TranscoderSlots {
  readonly #holders = new Set<SlotHolder>()
  readonly #waiting = new Set<SlotHolder>()
  #limit: number

  /** @param limit maximum number of picture transcoders */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Sets the limit. Running transcoders above a smaller limit continue. */
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

  /** Takes a slot. Returns whether the holder has a slot now, including a slot taken before. */
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

  /** Registers a holder that needs a slot. Its `retry` is called when a slot may be free. */
  wait(holder: SlotHolder): void {
    this.#waiting.add(holder)
  }

  leave(holder: SlotHolder): void {
    this.#waiting.delete(holder)
    if (this.#holders.delete(holder)) this.#wake()
  }

  #wake(): void {
    for (const holder of [...this.#waiting]) holder.retry()
  }
}
