import type { ChatLine } from '../../../shared/media/signal.ts'

/** What was said longer ago and was not told since, in milliseconds, was not taken: it is not said again. */
const freshMs = 15_000

/** What this person said in the chat, until the node tells it to everybody: a node that is lost meanwhile may have told it to nobody. */
export class OwnLines {
  #said: { text: string; at: number }[] = []

  /** It is on its way, or will be. */
  say(text: string): void {
    this.#said.push({ text, at: Date.now() })
  }

  /** The node has told these. @param ownId of this person */
  told(lines: readonly ChatLine[], ownId: string | undefined): void {
    for (const { user_id, text } of lines) {
      const index = user_id === ownId ? this.#said.findIndex((one) => one.text === text) : -1
      if (index !== -1) this.#said.splice(index, 1)
    }
  }

  /** Another connection, or another node: what is to be said again. */
  again(): string[] {
    this.#said = this.#said.filter(({ at }) => Date.now() - at < freshMs)
    return this.#said.map(({ text }) => text)
  }

  clear(): void {
    this.#said = []
  }
}
