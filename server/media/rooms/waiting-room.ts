import type { ToPerson, WaitingPerson } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import { GuestPlaces } from './guest-places.ts'
import type { Identity } from './member.ts'

/** Maximum number of waiting people per room. */
const maxWaiting = 100
/** Period in which a refused visitor cannot wait again, in milliseconds. */
const turnedAwayMs = 60_000
/** Maximum number of refused visitors kept. */
const maxTurnedAway = 1_000

export interface WaitingLink {
  send(message: ToPerson): void
  /** Admits the user. @throws the errors of `Room.enter`; the user then continues to wait */
  enter(identity: Identity): void
  /** Refuses the user and closes the connection. */
  refuse(problem: Problem): void
  /**
   * Ends waiting with a reason, or because another connection of the same user replaces this one. Closes the
   * connection.
   */
  removed(reason: 'closed' | 'restarting' | 'ended' | 'replaced'): void
}

interface Waiting {
  identity: Identity
  since: number
  /** undefined while the connection is lost and may come back. */
  link: WaitingLink | undefined
  /** The user was admitted while disconnected, and enters when they reconnect. */
  letIn: boolean
  /** Cancels the removal of a disconnected user. */
  cancel: (() => void) | undefined
}

/** Users waiting to be admitted by a host of the room or the operator. */
export class WaitingRoom {
  readonly #after: (milliseconds: number, run: () => void) => () => void
  readonly #changed: () => void
  readonly #clock: () => number
  /** In order of arrival. */
  readonly #waiting = new Map<string, Waiting>()
  /** End of each refusal, in milliseconds since the epoch. */
  readonly #turnedAway = new Map<string, number>()
  /** Presence of a host as last sent to the waiting users. */
  #hostHere = false

  /**
   * @param after runs a function later, unless it is cancelled or the room has ended
   * @param changed called when a user arrives or leaves
   */
  constructor(after: (milliseconds: number, run: () => void) => () => void, changed: () => void, clock: () => number) {
    this.#after = after
    this.#changed = changed
    this.#clock = clock
  }

  get people(): WaitingPerson[] {
    return [...this.#waiting.values()]
      .filter(({ letIn }) => !letIn)
      .map(({ identity: { userId, userName }, since }) => ({ user_id: userId, user_name: userName, since }))
  }

  /**
   * Adds a waiting user, or reconnects one.
   * @returns whether they were admitted meanwhile and no longer wait
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

  /** Records that a waiting user lost the connection. Their place is kept for `milliseconds` if their id is proven. */
  detach(userId: string, link: WaitingLink, milliseconds: number): void {
    const waiting = this.#waiting.get(userId)
    if (waiting?.link !== link) return
    waiting.link = undefined
    if (!waiting.identity.proven) return this.leave(userId)
    waiting.cancel = this.#after(milliseconds, () => this.leave(userId))
  }

  /** Removes a user who stops waiting. */
  leave(userId: string): void {
    this.#waiting.get(userId)?.cancel?.()
    if (this.#waiting.delete(userId)) this.#changed()
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Returns the first message to a waiting user. */
  notice(topic: string, hostHere: boolean): ToPerson {
    this.#hostHere = hostHere
    return { type: 'waiting', topic, host_here: hostHere }
  }

  /** Notifies the waiting users that a host has come, or that the last one has left. */
  hostsChanged(topic: string, hostHere: boolean): void {
    if (hostHere !== this.#hostHere) this.tell(this.notice(topic, hostHere))
  }

  /** Sends a message to one waiting user or to all. @returns number of connected recipients */
  tell(message: ToPerson, userId?: string): number {
    const one = userId === undefined ? undefined : this.#waiting.get(userId)
    const chosen = userId === undefined ? [...this.#waiting.values()] : one === undefined ? [] : [one]
    const links = chosen.flatMap(({ link }) => link ?? [])
    for (const link of links) link.send(message)
    return links.length
  }

  /**
   * Admits one waiting user or all.
   * @param entered called with each admitted user
   * @throws Problem noStream if no such user waits; the errors of `WaitingLink.enter` for the first user who cannot
   *   enter. That user and all later ones continue to wait.
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

  /** Refuses a waiting user. @throws Problem noStream if no such user waits */
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

  /** Removes all waiting users. @param end handles each connection */
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
