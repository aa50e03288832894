import type { RoomView } from './room-view.ts'

/** Time in which a loss without effect on media usually recovers, in milliseconds. */
const quietMs = 3_000

/** Notice about a lost connection to the node, which reconnects. */
export class NodeLoss {
  readonly #view: RoomView
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(view: RoomView) {
    this.#view = view
  }

  /**
   * Starts with the loss.
   * @param restarting the node announced its return
   * @param goesOn media continues through another server: only a longer loss shows a notice
   */
  began(restarting: boolean, goesOn: boolean): void {
    clearTimeout(this.#timer)
    const tell = (): void => void Object.assign(this.#view, { connected: false, restarting })
    if (goesOn) this.#timer = setTimeout(tell, quietMs)
    else tell()
  }

  /** Ends with the reconnection. @returns whether a notice was shown */
  ended(): boolean {
    this.clear()
    return !this.#view.connected
  }

  /** Removes the notice. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
