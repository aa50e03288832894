import { powerSaveBlocker } from 'electron'

/**
 * Keeps the computer awake while it is needed. While users or cameras are in a room, sleep would interrupt all media
 * and the APIs (`prevent-app-suspension`: the screen may turn off). While a wall is shown, the screen stays on
 * (`prevent-display-sleep`).
 */
export class KeepAwake {
  readonly #kind: 'prevent-app-suspension' | 'prevent-display-sleep'
  #blocker: number | undefined

  constructor(kind: 'prevent-app-suspension' | 'prevent-display-sleep') {
    this.#kind = kind
  }

  update(needed: boolean): void {
    if (needed) this.#blocker ??= powerSaveBlocker.start(this.#kind)
    else if (this.#blocker !== undefined) {
      powerSaveBlocker.stop(this.#blocker)
      this.#blocker = undefined
    }
  }
}
