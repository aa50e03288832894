import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomUser } from './member.ts'

/** Lines that late joiners see. */
const kept = 100

/** The last lines of a room's chat. */
export class RoomChat {
  readonly #lines: ChatLine[] = []
  #id = 0

  get lines(): readonly ChatLine[] {
    return this.#lines
  }

  /** Those who come next are others: nothing of it is theirs. */
  clear(): void {
    this.#lines.length = 0
  }

  /** @param at milliseconds since the epoch */
  add({ userId, userName }: RoomUser, text: string, at: number): ChatLine {
    this.#id += 1
    const line: ChatLine = { id: this.#id, user_id: userId, user_name: userName, text, at }
    this.#lines.push(line)
    if (this.#lines.length > kept) this.#lines.shift()
    return line
  }
}
