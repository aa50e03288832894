import type { Reaction } from '../../../shared/media/reactions.ts'
import type { ToPerson } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { RoomMember } from './member.ts'

/** Interval in which reactions are gathered into one message, in milliseconds. */
const gatherMs = 200
/** Maximum number of reactions per message. Further ones are dropped, since no viewer could follow them. */
const maxTogether = 40
/** Average minimum interval between reactions of one user, in milliseconds, and maximum burst. */
const spacingMs = 500
const burst = 6

/**
 * Reactions of a room. Each member gets at most five messages per second, however many users react. Only the latest
 * reaction of each user since the previous message is sent.
 */
export class RoomReactions {
  readonly #after: (milliseconds: number, run: () => void) => void
  readonly #broadcast: (message: ToPerson) => void
  readonly #clock: () => number
  #gathered = new Map<string, Reaction>()

  /** @param clock milliseconds */
  constructor(
    after: (milliseconds: number, run: () => void) => void,
    broadcast: (message: ToPerson) => void,
    clock: () => number,
  ) {
    this.#after = after
    this.#broadcast = broadcast
    this.#clock = clock
  }

  /** Adds a reaction. @throws Problem tooMany if the user sends too many */
  add(member: RoomMember, reaction: Reaction): void {
    const now = this.#clock()
    const until = Math.max(member.reactsFrom, now) + spacingMs
    if (until - now > burst * spacingMs) throw new Problem('tooMany', 'Wait a moment before the next reaction.')
    member.reactsFrom = until
    const { userId } = member.user
    if (!this.#gathered.has(userId) && this.#gathered.size >= maxTogether) return
    if (this.#gathered.size === 0) this.#after(gatherMs, () => this.#send())
    this.#gathered.set(userId, reaction)
  }

  #send(): void {
    const list = Array.from(this.#gathered, ([user_id, reaction]) => ({ user_id, reaction }))
    this.#gathered = new Map()
    this.#broadcast({ type: 'reactions', list })
  }
}
