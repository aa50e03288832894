import { powerSaveBlocker } from 'electron'

/**
 * Keeps the computer awake while users or cameras are in a room, if the operator wants it: sleep would end everybody's pictures and the APIs.
 * The screen may go dark.
 */
export class KeepAwake {
  #blocker: number | undefined

  /** @param occupied users or cameras are in a room */
  update(occupied: boolean, wanted: boolean): void {
    if (occupied && wanted) this.#blocker ??= powerSaveBlocker.start('prevent-app-suspension')
    else if (this.#blocker !== undefined) {
      powerSaveBlocker.stop(this.#blocker)
      this.#blocker = undefined
    }
  }
}
