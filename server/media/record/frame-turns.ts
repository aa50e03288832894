import type { LoopTurns } from './loop-turns.ts'

/** Gives one frame to the format of a file. */
type Give = () => Promise<void>

/** Frames of one file on their way to its format, in order. A key frame may end a fragment, which takes time: it waits for a turn, and all behind it with it. */
export class FrameTurns {
  readonly #turns: LoopTurns
  readonly #failed: (error: unknown) => void
  #waiting: { give: Give; key: boolean }[] = []

  constructor(turns: LoopTurns, failed: (error: unknown) => void) {
    this.#turns = turns
    this.#failed = failed
  }

  /** Takes the next frame. */
  add(key: boolean, give: Give): void {
    if (!key && this.#waiting.length === 0) return this.#give(give)
    this.#waiting.push({ give, key })
    if (this.#waiting.length === 1) this.#turns.add(this.#giveGroup)
  }

  /** Gives all that waits in a turn of its own: what comes next takes time as well. */
  async end(): Promise<void> {
    await this.#turns.next()
    this.#turns.remove(this.#giveGroup)
    for (const { give } of this.#waiting) this.#give(give)
    this.#waiting = []
  }

  /** Gives a key frame and those behind it, up to the next one. */
  readonly #giveGroup = (): void => {
    const next = this.#waiting.findIndex(({ key }, index) => index > 0 && key)
    for (const { give } of this.#waiting.splice(0, next < 0 ? Infinity : next)) this.#give(give)
    if (this.#waiting.length > 0) this.#turns.add(this.#giveGroup)
  }

  #give(give: Give): void {
    try {
      give().catch(this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }
}
