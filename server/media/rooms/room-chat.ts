import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomUser } from './member.ts'

/** Lines that late joiners see. */
const kept = 100

/** The last lines of a room's chat. */
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

  /** Whether one of the lines is this user's. */
  has(userId: string): boolean {
    return this.#lines.some(({ user_id }) => user_id === userId)
  }

  /** Those who come next are others: nothing of it is theirs. */
  clear(): void {
    this.#lines.length = 0
  }

  add({ userId, userName }: RoomUser, text: string): ChatLine {
    // A page that comes from a program before this one knows the lines of that: these are later ones.
    this.#id = Math.max(this.#id + 1, this.#clock())
    const line: ChatLine = { id: this.#id, user_id: userId, user_name: userName, text, at: this.#clock() }
    this.#lines.push(line)
    if (this.#lines.length > kept) this.#lines.shift()
    return line
  }
}
