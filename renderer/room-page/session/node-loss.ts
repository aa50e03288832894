import type { RoomView } from './room-view.ts'

/** A loss that nobody sees or hears is mended by then as a rule, in milliseconds. */
const quietMs = 3_000

/** The connection to the node is lost, and is being mended: what the page says of it, and what is said in the room meanwhile. */
export class NodeLoss {
  readonly #view: RoomView
  #unsent: string[] = []
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

  /** Keeps what somebody says until it is mended. Returns false where they know that it is lost. */
  keep(text: string): boolean {
    if (this.#view.connected) this.#unsent.push(text)
    return this.#view.connected
  }

  /** It is mended. @returns whether a word was said of it, and what was kept */
  ended(): { told: boolean; unsent: readonly string[] } {
    const ended = { told: !this.#view.connected, unsent: this.#unsent }
    this.clear()
    return ended
  }

  /** Nothing is to be said or sent any more. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#unsent = []
  }
}
