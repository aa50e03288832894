import type { Lifetime } from '../base/lifetime.ts'

/** Interval between two beginnings of a picture that is hidden and shown again and again, in milliseconds: each costs all pictures since the last key frame. */
const showEveryMs = 500

/** Whether a viewer sees a picture. */
export class Visibility {
  readonly #lifetime: Lifetime
  #hidden = false
  #shownAt = -Infinity
  #cancelShow: (() => void) | undefined

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime
  }

  get hidden(): boolean {
    return this.#hidden
  }

  hide(): void {
    this.#cancelShow?.()
    this.#cancelShow = undefined
    this.#hidden = true
  }

  /**
   * Shows a hidden picture again, now or once the interval is over.
   * @param now milliseconds of a clock that never goes back
   * @param begin called when it is shown
   */
  show(now: number, begin: (now: number) => void): void {
    if (!this.#hidden || this.#cancelShow !== undefined) return
    const shown = (at: number): void => {
      this.#cancelShow = undefined
      this.#hidden = false
      this.#shownAt = at
      begin(at)
    }
    const wait = this.#shownAt + showEveryMs - now
    if (wait > 0) this.#cancelShow = this.#lifetime.after(wait, () => shown(now + wait))
    else shown(now)
  }
}
