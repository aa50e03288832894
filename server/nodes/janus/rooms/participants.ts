import { shownName } from '../../../../shared/control-character.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import type { NodeEvent, NodeUser } from '../../port/media-node-port.ts'
import type { ListedParticipant } from './janus-rooms.ts'

/** Needs of the participants of one node. */
export interface JanusParticipantsOptions {
  /** Asks the node, within a deadline. */
  list: (roomId: string) => Promise<ListedParticipant[]>
  /** It is no person: who put it there keeps it. */
  isDevice: (roomId: string, userId: string) => boolean
  /** Facts about a user besides the name. */
  standingOf: (roomId: string, userId: string) => Pick<NodeUser, 'role' | 'byNumber' | 'hand'>
  tell: (event: NodeEvent) => void
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** A person in a room. */
interface ParticipantSession {
  user: NodeUser
  /** The node's number for it; undefined while it has not sent one. */
  key: number | undefined
}

/** Limit of readings in a row: a list is read again after an event during its reading. */
const readingsAtMost = 5
/** Age in milliseconds up to which a reading counts, unless an event comes before: after any fault, a user who is gone is listed no longer than this. */
const freshMs = 1_000
/** Rooms of which that is remembered. */
const freshAtMost = 10_000

/**
 * People in the rooms of one Janus. The node's list is the truth: every event of a room, and every missing one, leads to a reading of that room, and the differences are who
 * joined and left. So a lost or late event makes it wrong only until the next reading.
 */
export class JanusParticipants {
  readonly #options: JanusParticipantsOptions
  readonly #rooms = new Map<string, Map<string, ParticipantSession>>()
  /** Readings under way by room; an event meanwhile causes one more. */
  readonly #readings = new Map<string, { again: boolean; done: Promise<void> }>()
  /** Numbers of participant sessions that were reported and not yet listed, by room and user. */
  readonly #notified = new Map<string, Map<string, number>>()
  /** Time of each room's last reading without an event since, on the clock of `performance.now()`. */
  readonly #readAt = new Map<string, number>()
  #users = 0

  constructor(options: JanusParticipantsOptions) {
    this.#options = options
  }

  /** People in all rooms. */
  get users(): number {
    return this.#users
  }

  /** Rooms with somebody in them. */
  get occupied(): string[] {
    return [...this.#rooms.keys()]
  }

  count(roomId: string): number {
    return this.#rooms.get(roomId)?.size ?? 0
  }

  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#rooms.get(roomId)?.get(userId)?.user
  }

  /** In the order they joined. */
  usersOf(roomId: string): NodeUser[] {
    return Array.from(this.#rooms.get(roomId)?.values() ?? [], ({ user }) => user)
  }

  /** The node's number for a user's participant session, if it sent one. */
  keyOf(roomId: string, userId: string): number | undefined {
    return this.#rooms.get(roomId)?.get(userId)?.key ?? this.#notified.get(roomId)?.get(userId)
  }

  /** Takes an event that a user joined: the next reading of the room confirms it. @param key another number is another participant session, also of the same user */
  toldJoined(roomId: string, userId: string, key: number): void {
    const told = this.#notified.get(roomId) ?? new Map<string, number>()
    this.#notified.set(roomId, told.set(userId, key))
  }

  /** Whether the room was read a moment ago without an event since; needs a node that sends events. */
  isFresh(roomId: string): boolean {
    return performance.now() - (this.#readAt.get(roomId) ?? Number.NEGATIVE_INFINITY) < freshMs
  }

  /** Notes that events until now may have been lost. */
  doubt(): void {
    this.#readAt.clear()
    for (const reading of this.#readings.values()) reading.again = true
  }

  /** Reads the room. Callers during a reading share one more. @throws what the list throws; the signal's reason */
  read(roomId: string, signal?: AbortSignal): Promise<void> {
    this.#readAt.delete(roomId)
    const underWay = this.#readings.get(roomId)
    if (underWay !== undefined) {
      underWay.again = true
      return unlessAborted(underWay.done, signal)
    }
    const reading = { again: false, done: Promise.resolve() }
    this.#readings.set(roomId, reading)
    reading.done = this.#readUntilStill(roomId, reading).finally(() => this.#readings.delete(roomId))
    return unlessAborted(reading.done, signal)
  }

  /** Reports a user whom we removed or admitted, at once. */
  left(roomId: string, userId: string): void {
    this.#disturb(roomId)
    this.#remove(roomId, userId)
  }

  /** Nobody is in the room any more. */
  clear(roomId: string): void {
    this.#disturb(roomId)
    this.#readAt.delete(roomId)
    for (const userId of [...(this.#rooms.get(roomId)?.keys() ?? [])]) this.#remove(roomId, userId)
    this.#notified.delete(roomId)
  }

  async #readUntilStill(roomId: string, reading: { again: boolean }): Promise<void> {
    for (let readings = 1; ; readings += 1) {
      reading.again = false
      const listed = await this.#options.list(roomId)
      if (reading.again && readings < readingsAtMost) continue
      this.#settle(roomId, listed)
      if (this.#readAt.size >= freshAtMost) this.#readAt.clear()
      if (!reading.again) this.#readAt.set(roomId, performance.now())
      return
    }
  }

  /** A list that is under way may be older than this event. */
  #disturb(roomId: string): void {
    const reading = this.#readings.get(roomId)
    if (reading !== undefined) reading.again = true
  }

  #settle(roomId: string, listed: readonly ListedParticipant[]): void {
    const told = this.#notified.get(roomId)
    this.#notified.delete(roomId)
    const people = listed.filter(({ id }) => !this.#options.isDevice(roomId, id))
    const present = new Set(people.map(({ id }) => id))
    for (const [userId, session] of [...(this.#rooms.get(roomId) ?? [])]) {
      const key = told?.get(userId) ?? session.key
      if (!present.has(userId) || (session.key !== undefined && key !== session.key)) this.#remove(roomId, userId)
    }
    for (const participant of people) this.#settleOne(roomId, participant, told?.get(participant.id))
  }

  #settleOne(roomId: string, participant: ListedParticipant, key: number | undefined): void {
    const { standingOf, tell, clock } = this.#options
    const known = this.#rooms.get(roomId)?.get(participant.id)
    const session: ParticipantSession = known ?? {
      user: { userId: participant.id, userName: '', device: false, role: 'member', joinedAt: clock() },
      key: undefined,
    }
    if (key !== undefined) session.key = key
    const { role, byNumber, hand } = standingOf(roomId, participant.id)
    const user = { ...session.user, userName: shownName(participant.display), role, byNumber, hand }
    if (known !== undefined && sameUser(known.user, user)) return
    session.user = user
    if (known === undefined) {
      const room = this.#rooms.get(roomId) ?? new Map<string, ParticipantSession>()
      this.#rooms.set(roomId, room.set(user.userId, session))
      this.#users += 1
    }
    tell({ type: 'joined', roomId, user })
  }

  #remove(roomId: string, userId: string): void {
    const room = this.#rooms.get(roomId)
    if (room?.delete(userId) !== true) return
    this.#users -= 1
    if (room.size === 0) this.#rooms.delete(roomId)
    this.#options.tell({ type: 'left', roomId, userId })
  }
}

function sameUser(one: NodeUser, other: NodeUser): boolean {
  return (
    one.userName === other.userName &&
    one.role === other.role &&
    one.byNumber === other.byNumber &&
    (one.hand ?? 0) === (other.hand ?? 0)
  )
}
