import { setNewest } from '../../../shared/growing-cache.ts'
import type { ToPerson, WaitingPerson } from '../../../shared/media/signal.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { Problem } from '../base/problem.ts'
import { GuestPlaces } from './guest-places.ts'
import type { Identity } from './member.ts'
import type { RoomConfig } from './room-config.ts'
import type { RoomMembers } from './room-members.ts'
import type { RoomReports } from './room-reports.ts'

/** Maximum number of waiting people per room. */
const maxWaiting = 100
/** Period in which a refused visitor cannot wait again, in milliseconds. */
const turnedAwayMs = 60_000
/** Maximum number of refused visitors kept. */
const maxTurnedAway = 1_000
/** Period in which changes are gathered into one report, in milliseconds. */
const gatherMs = 150

export interface WaitingLink {
  send(message: ToPerson): void
  /** Admits the user. @throws the errors of `Attendance.enter`; the user then continues to wait */
  enter(identity: Identity): void
  /** Refuses the user and closes the connection. */
  refuse(problem: Problem): void
  /** Ends waiting for a reason and closes the connection. `replaced`: the user waits on another connection. */
  removed(reason: 'closed' | 'restarting' | 'ended' | 'replaced'): void
}

interface Waiting {
  identity: Identity
  since: number
  /** Connection of the user; undefined while the connection is lost and may return. */
  link: WaitingLink | undefined
  /** Whether the user was admitted while disconnected. The user then enters when they reconnect. */
  letIn: boolean
  /** Cancels the removal of a disconnected user. */
  cancel: (() => void) | undefined
}

interface WaitingRoomDependencies {
  reports: RoomReports
  /** Lifetime of the room's timers. */
  lifetime: Lifetime
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Users waiting to be admitted by a host of the room or the operator. */
export class WaitingRoom {
  readonly #room: { readonly config: RoomConfig; readonly members: RoomMembers }
  readonly #lifetime: Lifetime
  readonly #clock: () => number
  readonly #report: WaitingReport
  /** Waiting users by id, in order of arrival. */
  readonly #waiting = new Map<string, Waiting>()
  /** End of each refusal, in milliseconds since the epoch. */
  readonly #turnedAway = new Map<string, number>()
  /** Presence of a host as last sent to the waiting users. */
  #hostHere = false

  constructor(
    room: { readonly config: RoomConfig; readonly members: RoomMembers },
    { reports, lifetime, clock }: WaitingRoomDependencies,
  ) {
    this.#room = room
    this.#lifetime = lifetime
    this.#clock = clock
    this.#report = new WaitingReport(this, lifetime, reports)
  }

  get people(): WaitingPerson[] {
    return [...this.#waiting.values()]
      .filter(({ letIn }) => !letIn)
      .map(({ identity: { userId, userName }, since }) => ({ user_id: userId, user_name: userName, since }))
  }

  /** Returns whether a host has to admit the user first. */
  mustWait({ userId, role, wasIn }: Pick<Identity, 'userId' | 'role' | 'wasIn'>): boolean {
    const { config, members } = this.#room
    if (config.waitingRoom !== true || role === 'host' || wasIn) return false
    return members.get(userId)?.signalling.hasConnected !== true
  }

  /**
   * Adds a waiting user, or reconnects a user who waits already.
   * @returns whether the user was admitted meanwhile and does not wait
   * @throws Problem noRoom, locked, turnedAway, taken, busy
   */
  wait(identity: Identity, link: WaitingLink): boolean {
    const { userId } = identity
    this.#room.members.assertOpen()
    if (this.#room.config.locked) throw new Problem('locked')
    this.#room.members.assertFree(userId)
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

  /**
   * Handles the loss of a waiting user's connection. If the user's id is proven, the place is kept for `milliseconds`.
   */
  detach(userId: string, link: WaitingLink, milliseconds: number): void {
    const waiting = this.#waiting.get(userId)
    if (waiting?.link !== link) return
    waiting.link = undefined
    if (!waiting.identity.proven) return this.leave(userId)
    waiting.cancel = this.#lifetime.after(milliseconds, () => this.leave(userId))
  }

  /** Removes a waiting user. */
  leave(userId: string): void {
    this.#waiting.get(userId)?.cancel?.()
    if (this.#waiting.delete(userId)) this.#changed()
  }

  /** Returns the first message to a waiting user. */
  notice(): ToPerson {
    const { config, members } = this.#room
    this.#hostHere = members.hostHere
    return { type: 'waiting', topic: config.topic, host_here: this.#hostHere }
  }

  /** Notifies the waiting users if the first host has entered or the last host has left. */
  hostsChanged(): void {
    if (this.#waiting.size > 0 && this.#room.members.hostHere !== this.#hostHere) this.tell(this.notice())
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
   * Admits one waiting user, or all if `userId` is omitted.
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
    setNewest(this.#turnedAway, userId, this.#clock() + turnedAwayMs, maxTurnedAway)
    link?.refuse(new Problem('turnedAway'))
    this.#changed()
    return identity
  }

  /** Removes all waiting users. @param end called with each connection to close it */
  clear(end: (link: WaitingLink, identity: Identity) => void): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { identity, link, cancel } of waiting) {
      cancel?.()
      if (link !== undefined) end(link, identity)
    }
    if (waiting.length > 0) this.#changed()
  }

  /** Admits everybody, because the waiting room was switched off. */
  switchOff(): void {
    this.clear((link, identity) => {
      try {
        link.enter(identity)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        link.refuse(error)
      }
    })
  }

  /** Reports an empty waiting room when the room closes. */
  reportNobody(): void {
    this.#report.end()
  }

  /** Notifies the controller and the hosts after a user arrived or left. */
  #changed(): void {
    this.#report.changed()
    const message: ToPerson = { type: 'waiting_list', people: this.people }
    for (const { user, signalling } of this.#room.members.values()) if (user.role === 'host') signalling.send(message)
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

/** Reports the people waiting to enter one room to the controller. */
class WaitingReport {
  readonly #waiting: { readonly people: WaitingPerson[] }
  /** Lifetime of the room's timers. */
  readonly #lifetime: Lifetime
  readonly #reports: RoomReports
  #pending = false
  /** Whether the last report listed any people. */
  #named = false

  constructor(waiting: { readonly people: WaitingPerson[] }, lifetime: Lifetime, reports: RoomReports) {
    this.#waiting = waiting
    this.#lifetime = lifetime
    this.#reports = reports
  }

  /** Schedules a report after a possible change. */
  changed(): void {
    if (this.#pending) return
    this.#pending = true
    this.#lifetime.after(gatherMs, () => {
      this.#pending = false
      this.#send(this.#waiting.people)
    })
  }

  /** Reports an empty list when the room ends. */
  end(): void {
    this.#send([])
  }

  #send(people: WaitingPerson[]): void {
    if (people.length > 0 || this.#named) this.#reports.waiting(people)
    this.#named = people.length > 0
  }
}
