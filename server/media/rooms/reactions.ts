import type { Reaction } from '../../../shared/media/reactions.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { Problem } from '../base/problem.ts'
import type { RoomMember } from './member.ts'
import type { RoomMembers } from './room-members.ts'

/** Interval in which reactions are gathered into one message, in milliseconds. */
const gatherMs = 200
/** Maximum number of reactions per message. Further reactions are dropped, since no viewer could follow them. */
const maxTogether = 40
/**
 * Average minimum interval between reactions of one user, in milliseconds, and maximum number of reactions in a burst.
 */
const spacingMs = 500
const burst = 6

/**
 * Reactions of a room. Each member gets at most five messages per second, regardless of the number of reactions. Only
 * the latest reaction of each user since the previous message is sent.
 */
export class RoomReactions {
  readonly #members: RoomMembers
  /** Lifetime of the room's timers. */
  readonly #lifetime: Lifetime
  readonly #clock: () => number
  /** Earliest time of each member's next reaction by the rate limit, in milliseconds. */
  readonly #earliest = new WeakMap<RoomMember, number>()
  #gathered = new Map<string, Reaction>()

  /** @param clock returns milliseconds */
  constructor(members: RoomMembers, lifetime: Lifetime, clock: () => number) {
    this.#members = members
    this.#lifetime = lifetime
    this.#clock = clock
  }

  /** Adds a reaction. @throws Problem tooMany if the user sends too many */
  add(member: RoomMember, reaction: Reaction): void {
    const now = this.#clock()
    const until = Math.max(this.#earliest.get(member) ?? 0, now) + spacingMs
    if (until - now > burst * spacingMs) throw new Problem('tooMany', 'Wait a moment before the next reaction.')
    this.#earliest.set(member, until)
    const { userId } = member.user
    if (!this.#gathered.has(userId) && this.#gathered.size >= maxTogether) return
    if (this.#gathered.size === 0) this.#lifetime.after(gatherMs, () => this.#send())
    this.#gathered.set(userId, reaction)
  }

  #send(): void {
    const list = Array.from(this.#gathered, ([user_id, reaction]) => ({ user_id, reaction }))
    this.#gathered = new Map()
    this.#members.broadcast({ type: 'reactions', list })
  }
}
