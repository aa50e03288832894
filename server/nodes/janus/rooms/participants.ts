import { shownName } from '../../../../shared/control-character.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import type { NodeEvent, NodeUser } from '../../port/media-node-port.ts'
import type { ListedParticipant } from './janus-rooms.ts'

export interface JanusParticipantsOptions {
  /** Queries the node's list, with a deadline. */
  list: (roomId: string) => Promise<ListedParticipant[]>
  /**
   * Returns whether a participant is a device, a screen or a relay. The code that created such participants tracks
   * them.
   */
  isDevice: (roomId: string, userId: string) => boolean
  /** Returns the data of a user that the node does not store. */
  standingOf: (roomId: string, userId: string) => Pick<NodeUser, 'role' | 'byNumber' | 'hand'>
  tell: (event: NodeEvent) => void
  /** Returns milliseconds since the epoch. */
  clock: () => number
}

/** A person in a room. */
interface ParticipantSession {
  user: NodeUser
  /** The node's private id of the participant session; undefined while unknown. */
  key: number | undefined
}

/** Maximum number of consecutive readings. A list is read again if an event arrives during its reading. */
const readingsAtMost = 5
/**
 * Maximum age of a reading, in milliseconds, if no event invalidates it. After any fault, a user who left is therefore
 * listed for at most one second.
 */
const freshMs = 1_000
/** Maximum number of rooms whose reading time is kept. */
const freshAtMost = 10_000

/**
 * People in the rooms of one Janus. The node's list is authoritative: each event of a room causes a reading of that
 * room, and the differences determine who joined and left. A lost or late event therefore causes an error only until
 * the next reading.
 */
export class JanusParticipants {
  readonly #options: JanusParticipantsOptions
  readonly #rooms = new Map<string, Map<string, ParticipantSession>>()
  /** Readings in progress, by room. An event during a reading causes another reading. */
  readonly #readings = new Map<string, { again: boolean; done: Promise<void> }>()
  /** Private ids of reported, but not yet listed participant sessions, by room and user. */
  readonly #notified = new Map<string, Map<string, number>>()
  /** Time at which each room was last read, by `performance.now()`; deleted by a later event of the room. */
  readonly #readAt = new Map<string, number>()
  #users = 0

  constructor(options: JanusParticipantsOptions) {
    this.#options = options
  }

  /** Number of people in all rooms. */
  get users(): number {
    return this.#users
  }

  /** Rooms with at least one person. */
  get occupied(): string[] {
    return [...this.#rooms.keys()]
  }

  count(roomId: string): number {
    return this.#rooms.get(roomId)?.size ?? 0
  }

  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#rooms.get(roomId)?.get(userId)?.user
  }

  /** Returns the people of a room in the order they joined. */
  usersOf(roomId: string): NodeUser[] {
    return Array.from(this.#rooms.get(roomId)?.values() ?? [], ({ user }) => user)
  }

  /** Returns the node's private id of a user's participant session, if known. */
  keyOf(roomId: string, userId: string): number | undefined {
    return this.#rooms.get(roomId)?.get(userId)?.key ?? this.#notified.get(roomId)?.get(userId)
  }

  /**
   * Records that a user joined, as reported by an event. The next reading of the room confirms the event.
   * @param key private id; a different private id means a new participant session, also for the same user
   */
  notifyJoined(roomId: string, userId: string, key: number): void {
    const notified = this.#notified.get(roomId) ?? new Map<string, number>()
    this.#notified.set(roomId, notified.set(userId, key))
  }

  /** Returns whether the room was read recently without a later event. Valid only for nodes that send events. */
  isFresh(roomId: string): boolean {
    return performance.now() - (this.#readAt.get(roomId) ?? Number.NEGATIVE_INFINITY) < freshMs
  }

  /** Invalidates all readings, because events may have been lost. */
  doubt(): void {
    this.#readAt.clear()
    for (const reading of this.#readings.values()) reading.again = true
  }

  /**
   * Reads the room. Callers during a reading share the next reading.
   * @throws the error of `list`; the signal's reason
   */
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

  /** Reports immediately that a user left, after the controller removed them. */
  left(roomId: string, userId: string): void {
    this.#disturb(roomId)
    this.#remove(roomId, userId)
  }

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

  /** Repeats a reading in progress, because its list may be older than the current change. */
  #disturb(roomId: string): void {
    const reading = this.#readings.get(roomId)
    if (reading !== undefined) reading.again = true
  }

  #settle(roomId: string, listed: readonly ListedParticipant[]): void {
    const notified = this.#notified.get(roomId)
    this.#notified.delete(roomId)
    const people = listed.filter(({ id }) => !this.#options.isDevice(roomId, id))
    const present = new Set(people.map(({ id }) => id))
    for (const [userId, session] of [...(this.#rooms.get(roomId) ?? [])]) {
      const key = notified?.get(userId) ?? session.key
      if (!present.has(userId) || (session.key !== undefined && key !== session.key)) this.#remove(roomId, userId)
    }
    for (const participant of people) this.#settleOne(roomId, participant, notified?.get(participant.id))
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
