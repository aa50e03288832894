import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomUser } from './member.ts'

/** Number of lines that late joiners get. */
const kept = 100

/** Recent lines of a room's chat. */
export class RoomChat {
  readonly #clock: () => number
  readonly #lines: ChatLine[] = []
  #id = 0

  /** @param clock milliseconds since the epoch */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  get lines(): readonly ChatLine[] {
    return this.#lines
  }

  /** Whether a line of this user is kept. */
  has(userId: string): boolean {
    return this.#lines.some(({ user_id }) => user_id === userId)
  }

  /** Removes all lines before a new meeting with other people. */
  clear(): void {
    this.#lines.length = 0
  }

  add({ userId, userName }: RoomUser, text: string): ChatLine {
    // Ids are larger than those of an earlier process, whose lines a page may still hold.
    this.#id = Math.max(this.#id + 1, this.#clock())
    const line: ChatLine = { id: this.#id, user_id: userId, user_name: userName, text, at: this.#clock() }
    this.#lines.push(line)
    if (this.#lines.length > kept) this.#lines.shift()
    return line
  }
}
