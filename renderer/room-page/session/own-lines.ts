import type { ChatLine } from '../../../shared/media/signal.ts'

/** Milliseconds after which a message that never came back counts as lost: it is not sent again. */
const freshMs = 15_000

/** Own messages until the node sends them to everybody: a node that is lost meanwhile may have sent them to nobody. */
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
