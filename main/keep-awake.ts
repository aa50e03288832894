import { powerSaveBlocker } from 'electron'

/**
 * Keeps the computer awake while it is needed: while users or cameras are in a room, because sleep would end everybody's pictures and the
 * APIs (`prevent-app-suspension`: the screen may go dark), or while a wall is shown (`prevent-display-sleep`).
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
