import { powerSaveBlocker } from 'electron'

/**
 * Keeps the computer awake while it is needed. `prevent-app-suspension`: while users or cameras are in a room, because
 * sleep would interrupt all media and the APIs; the screen may turn off. `prevent-display-sleep`: keeps the screen on
 * while a wall is shown.
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
