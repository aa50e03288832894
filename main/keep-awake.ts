import { powerSaveBlocker } from 'electron'

/**
 * Keeps the computer from going to sleep while somebody is in a room, where the operator wants that: everybody's pictures and the APIs would end with it.
 * The screen may go dark.
 */
export class KeepAwake {
  #blocker: number | undefined

  /** @param occupied people or cameras are in a room */
  update(occupied: boolean, wanted: boolean): void {
    if (occupied && wanted) this.#blocker ??= powerSaveBlocker.start('prevent-app-suspension')
    else if (this.#blocker !== undefined) {
      powerSaveBlocker.stop(this.#blocker)
      this.#blocker = undefined
    }
  }
}
