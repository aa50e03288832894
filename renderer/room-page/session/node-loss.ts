import type { RoomView } from './room-view.ts'

/** A loss that nobody sees or hears is mended by then as a rule, in milliseconds. */
const quietMs = 3_000

/** The connection to the node is lost, and is being mended: what the page says of it. */
export class NodeLoss {
  readonly #view: RoomView
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(view: RoomView) {
    this.#view = view
  }

  /**
   * It is lost.
   * @param restarting the node said that it will be back
   * @param goesOn sound and pictures do, by another server: only a longer loss is worth a word
   */
  began(restarting: boolean, goesOn: boolean): void {
    clearTimeout(this.#timer)
    const tell = (): void => void Object.assign(this.#view, { connected: false, restarting })
    if (goesOn) this.#timer = setTimeout(tell, quietMs)
    else tell()
  }

  /** It is mended. @returns whether a word was said of it */
  ended(): boolean {
    this.clear()
    return !this.#view.connected
  }

  /** Nothing is to be said any more. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
