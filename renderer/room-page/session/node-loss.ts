import type { RoomView } from './room-view.ts'

/** Time in which a lost connection usually recovers without effect on media, in milliseconds. */
const quietMs = 3_000

/** Notice of a lost connection to the node, while the page reconnects. */
export class NodeLoss {
  readonly #view: RoomView
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(view: RoomView) {
    this.#view = view
  }

  /**
   * Handles the loss.
   * @param restarting the node announced its return
   * @param goesOn media continues through another server, so the notice is delayed
   */
  began(restarting: boolean, goesOn: boolean): void {
    clearTimeout(this.#timer)
    const tell = (): void => void Object.assign(this.#view, { connected: false, restarting })
    if (goesOn) this.#timer = setTimeout(tell, quietMs)
    else tell()
  }

  /** Handles the reconnection. @returns whether a notice was shown */
  ended(): boolean {
    this.clear()
    return !this.#view.connected
  }

  /** Cancels a delayed notice. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
