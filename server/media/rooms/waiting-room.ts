import type { ToPerson, WaitingPerson } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import { GuestPlaces } from './guest-places.ts'
import type { Identity } from './member.ts'

/** People of one room who wait at once. */
const maxWaiting = 100
/** Time in milliseconds for which a refused visitor cannot ask again. */
const turnedAwayMs = 60_000
/** So many of them are remembered. */
const maxTurnedAway = 1_000

/** The signalling connection of somebody who waits. */
export interface WaitingLink {
  send(message: ToPerson): void
  /** They are let in now. @throws Problem as `Room.enter` does: then they go on waiting */
  enter(identity: Identity): void
  /** They are not: the connection ends. */
  refuse(problem: Problem): void
  /** Called with the reason why nobody waits any more, or with another connection of the same user in its place; the connection ends. */
  removed(reason: 'closed' | 'restarting' | 'ended' | 'replaced'): void
}

interface Waiting {
  identity: Identity
  since: number
  /** undefined while the connection is lost and may come back. */
  link: WaitingLink | undefined
  /** They were let in while their connection was lost: they are in as soon as they are back. */
  letIn: boolean
  /** Calls off that they are forgotten. */
  cancel: (() => void) | undefined
}

/** People whom a host of the room, or the operator, has to admit. */
export class WaitingRoom {
  readonly #after: (milliseconds: number, run: () => void) => () => void
  readonly #changed: () => void
  readonly #clock: () => number
  /** In the order they came. */
  readonly #waiting = new Map<string, Waiting>()
  /** Until when, milliseconds since the epoch. */
  readonly #turnedAway = new Map<string, number>()
  /** Last notice to those who wait about the presence of a host. */
  #hostHere = false

  /**
   * @param after runs something later, unless it is cancelled; never again once the room is over
   * @param changed called when somebody comes or goes
   */
  constructor(after: (milliseconds: number, run: () => void) => () => void, changed: () => void, clock: () => number) {
    this.#after = after
    this.#changed = changed
    this.#clock = clock
  }

  /** Everybody who waits. */
  get people(): WaitingPerson[] {
    return [...this.#waiting.values()]
      .filter(({ letIn }) => !letIn)
      .map(({ identity: { userId, userName }, since }) => ({ user_id: userId, user_name: userName, since }))
  }

  /**
   * Somebody waits from now on, or again after their connection was lost.
   * @returns whether they were let in meanwhile, and wait no more
   * @throws Problem turnedAway, taken, busy
   */
  wait(identity: Identity, link: WaitingLink): boolean {
    const { userId } = identity
    if ((this.#turnedAway.get(userId) ?? 0) > this.#clock()) throw new Problem('turnedAway')
    const before = this.#waiting.get(userId)
    if (before !== undefined && !identity.proven) throw new Problem('taken')
    if (before === undefined && !this.#hasRoom(identity)) {
      throw new Problem('busy', 'Too many people wait to be let in.')
    }
    before?.cancel?.()
    if (before?.letIn === true) {
      this.#waiting.delete(userId)
      return true
    }
    const waiting = { identity, since: before?.since ?? this.#clock(), link, letIn: false, cancel: undefined }
    this.#waiting.set(userId, waiting)
    before?.link?.removed('replaced')
    this.#changed()
    return false
  }

  /** Notes that a waiting user lost the connection: their place is kept for so long if they can be recognised. */
  detach(userId: string, link: WaitingLink, milliseconds: number): void {
    const waiting = this.#waiting.get(userId)
    if (waiting?.link !== link) return
    waiting.link = undefined
    if (!waiting.identity.proven) return this.leave(userId)
    waiting.cancel = this.#after(milliseconds, () => this.leave(userId))
  }

  /** Somebody does not wait any more, of their own wish. */
  leave(userId: string): void {
    this.#waiting.get(userId)?.cancel?.()
    if (this.#waiting.delete(userId)) this.#changed()
  }

  /** Nobody waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** First message to somebody who waits. */
  notice(topic: string, hostHere: boolean): ToPerson {
    this.#hostHere = hostHere
    return { type: 'waiting', topic, host_here: hostHere }
  }

  /** Notifies those who wait that a host has come, or that the last one has left. */
  hostsChanged(topic: string, hostHere: boolean): void {
    if (hostHere !== this.#hostHere) this.tell(this.notice(topic, hostHere))
  }

  /** Sends a message to somebody who waits, or to everybody. @returns number of those who are connected */
  tell(message: ToPerson, userId?: string): number {
    const one = userId === undefined ? undefined : this.#waiting.get(userId)
    const chosen = userId === undefined ? [...this.#waiting.values()] : one === undefined ? [] : [one]
    const links = chosen.flatMap(({ link }) => link ?? [])
    for (const link of links) link.send(message)
    return links.length
  }

  /**
   * Lets somebody in, or everybody.
   * @param entered called with each who is let in
   * @throws Problem noStream when nobody of this id waits; as `WaitingLink.enter` does for the first who cannot be let in, who waits on with those after them
   */
  letIn(entered: (identity: Identity) => void, userId?: string): void {
    const chosen = userId === undefined ? [...this.#waiting.values()] : [this.#get(userId)]
    let anybody = false
    try {
      for (const waiting of chosen) {
        if (waiting.letIn) continue
        if (waiting.link === undefined) waiting.letIn = true
        else {
          waiting.link.enter(waiting.identity)
          this.#waiting.delete(waiting.identity.userId)
        }
        anybody = true
        entered(waiting.identity)
      }
    } finally {
      if (anybody) this.#changed()
    }
  }

  /** @throws Problem noStream when nobody of this id waits */
  turnAway(userId: string): Identity {
    const { identity, link, cancel } = this.#get(userId)
    cancel?.()
    this.#waiting.delete(userId)
    this.#turnedAway.set(userId, this.#clock() + turnedAwayMs)
    for (const first of this.#turnedAway.keys()) {
      if (this.#turnedAway.size <= maxTurnedAway) break
      this.#turnedAway.delete(first)
    }
    link?.refuse(new Problem('turnedAway'))
    this.#changed()
    return identity
  }

  /** Nobody waits any more. @param end what becomes of each connection */
  clear(end: (link: WaitingLink, identity: Identity) => void): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { identity, link, cancel } of waiting) {
      cancel?.()
      if (link !== undefined) end(link, identity)
    }
    if (waiting.length > 0) this.#changed()
  }

  #hasRoom({ guest }: Identity): boolean {
    if (this.#waiting.size >= maxWaiting) return false
    const guests = new GuestPlaces()
    for (const { identity } of this.#waiting.values()) guests.take(identity.guest)
    return guest === undefined || guests.hasRoom(guest, maxWaiting)
  }

  #get(userId: string): Waiting {
    const waiting = this.#waiting.get(userId)
    if (waiting === undefined) throw new Problem('noStream', 'Nobody of this id waits.')
    return waiting
  }
}
