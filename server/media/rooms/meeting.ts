import type { ChatLine } from '../../../shared/media/signal.ts'
import { DistinctNames } from './distinct-names.ts'
import type { RoomUser } from './member.ts'

/** Maximum number of chat lines kept for users who join later. */
const kept = 100

/** Recent lines of a room's chat. */
class RoomChat {
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

  clear(): void {
    this.#lines.length = 0
  }

  add({ userId, userName }: RoomUser, text: string): ChatLine {
    // Ids are larger than the ids of an earlier process, whose lines a page may still show.
    this.#id = Math.max(this.#id + 1, this.#clock())
    const line: ChatLine = { id: this.#id, user_id: userId, user_name: userName, text, at: this.#clock() }
    this.#lines.push(line)
    if (this.#lines.length > kept) this.#lines.shift()
    return line
  }
}

/** State that ends with a meeting: passes, chat lines and names. */
export class RoomMeeting {
  readonly #clock: () => number
  readonly chat: RoomChat
  readonly names = new DistinctNames()
  /** Start of validity of passes, in milliseconds since the epoch. Earlier passes belong to a previous meeting. */
  #passesFrom = 0

  /** @param clock milliseconds since the epoch */
  constructor(clock: () => number) {
    this.#clock = clock
    this.chat = new RoomChat(clock)
  }

  /** Returns whether a pass belongs to this meeting. @param issuedAt milliseconds since the epoch */
  takesPass(issuedAt: number): boolean {
    return issuedAt >= this.#passesFrom
  }

  /** Begins a new meeting. Passes, messages and names of the previous one are discarded. */
  restart(): void {
    this.#passesFrom = this.#clock() + 1
    this.chat.clear()
    this.names.clear()
  }
}
