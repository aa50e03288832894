import type { ChatLine } from '../../../shared/media/signal.ts'

/** Time after which an unconfirmed message is not sent again, in milliseconds. */
const freshMs = 15_000

/** Own messages that the node has not confirmed: a lost node may not have delivered them. */
export class OwnLines {
  #said: { text: string; at: number }[] = []

  /** Adds a message that is being sent. */
  say(text: string): void {
    this.#said.push({ text, at: Date.now() })
  }

  /** Removes the messages that the node has confirmed. @param ownId id of this user */
  told(lines: readonly ChatLine[], ownId: string | undefined): void {
    for (const { user_id, text } of lines) {
      const index = user_id === ownId ? this.#said.findIndex((one) => one.text === text) : -1
      if (index !== -1) this.#said.splice(index, 1)
    }
  }

  /** Returns the messages to send again after a reconnection. */
  again(): string[] {
    this.#said = this.#said.filter(({ at }) => Date.now() - at < freshMs)
    return this.#said.map(({ text }) => text)
  }

  clear(): void {
    this.#said = []
  }
}
