import { shownName } from '../../../../shared/control-character.ts'
import { unlessAborted } from '../../port/deadline.ts'
import type { NodeEvent, NodeUser } from '../../port/media-node-port.ts'
import type { ListedParticipant } from './janus-rooms.ts'

/** What keeps who is in the rooms of one node. */
export interface JanusParticipantsOptions {
  /** Asks the node, within a deadline. */
  list: (roomId: string) => Promise<ListedParticipant[]>
  /** It is no person: who put it there keeps it. */
  isDevice: (roomId: string, userId: string) => boolean
  /** What they are besides their name. */
  standingOf: (roomId: string, userId: string) => Pick<NodeUser, 'role' | 'byNumber'>
  tell: (event: NodeEvent) => void
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** A person in a room. */
interface Stay {
  user: NodeUser
  /** The node's number for it; undefined while the node did not tell it. */
  key: number | undefined
}

/** Lists are read anew when something was told while they were asked for: at most so often in one go. */
const readingsAtMost = 5
/** What was read is good for so many milliseconds, unless something is told before: whatever went wrong, nobody is told for longer who is not there. */
const freshMs = 1_000
/** Rooms of which that is remembered. */
const freshAtMost = 10_000

/**
 * People in the rooms of one Janus. What is true is what the node lists: whatever is told of a room, or not told, ends in a reading of that room, and the difference is
 * what comes and goes. So neither an event that is lost nor one that is late makes it wrong for longer than until the next reading.
 */
export class JanusParticipants {
  readonly #options: JanusParticipantsOptions
  readonly #rooms = new Map<string, Map<string, Stay>>()
  /** Readings under way by room; what was told meanwhile makes one more. */
  readonly #readings = new Map<string, { again: boolean; done: Promise<void> }>()
  /** Numbers of stays that were told and not yet seen in a list, by room and user. */
  readonly #told = new Map<string, Map<string, number>>()
  /** When rooms were read that were still then, and of which nothing was told since, on the clock of `performance.now()`. */
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

  /** The node's number for somebody's stay, where it told it. */
  keyOf(roomId: string, userId: string): number | undefined {
    return this.#rooms.get(roomId)?.get(userId)?.key ?? this.#told.get(roomId)?.get(userId)
  }

  /** The node told that somebody is in: it is known as soon as the room is read. @param key another number: another stay, also of the same user */
  toldJoined(roomId: string, userId: string, key: number): void {
    const told = this.#told.get(roomId) ?? new Map<string, number>()
    this.#told.set(roomId, told.set(userId, key))
  }

  /** Where the node tells who comes and goes: it was read a moment ago, and nothing was told since. */
  isFresh(roomId: string): boolean {
    return performance.now() - (this.#readAt.get(roomId) ?? Number.NEGATIVE_INFINITY) < freshMs
  }

  /** What was told until now may have been lost. */
  doubt(): void {
    this.#readAt.clear()
    for (const reading of this.#readings.values()) reading.again = true
  }

  /** Reads the room. Whoever asks while it is read shares one more reading. @throws what the list throws; the signal's reason */
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

  /** Somebody was put out or in by us: told at once. */
  left(roomId: string, userId: string): void {
    this.#disturb(roomId)
    this.#remove(roomId, userId)
  }

  /** Nobody is in the room any more. */
  clear(roomId: string): void {
    this.#disturb(roomId)
    this.#readAt.delete(roomId)
    for (const userId of [...(this.#rooms.get(roomId)?.keys() ?? [])]) this.#remove(roomId, userId)
    this.#told.delete(roomId)
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

  /** What is listed now may be older than what just happened. */
  #disturb(roomId: string): void {
    const reading = this.#readings.get(roomId)
    if (reading !== undefined) reading.again = true
  }

  #settle(roomId: string, listed: readonly ListedParticipant[]): void {
    const told = this.#told.get(roomId)
    this.#told.delete(roomId)
    const people = listed.filter(({ id }) => !this.#options.isDevice(roomId, id))
    const present = new Set(people.map(({ id }) => id))
    for (const [userId, stay] of [...(this.#rooms.get(roomId) ?? [])]) {
      const key = told?.get(userId) ?? stay.key
      if (!present.has(userId) || (stay.key !== undefined && key !== stay.key)) this.#remove(roomId, userId)
    }
    for (const participant of people) this.#settleOne(roomId, participant, told?.get(participant.id))
  }

  #settleOne(roomId: string, participant: ListedParticipant, key: number | undefined): void {
    const { standingOf, tell, clock } = this.#options
    const known = this.#rooms.get(roomId)?.get(participant.id)
    const stay: Stay = known ?? {
      user: { userId: participant.id, userName: '', device: false, role: 'member', joinedAt: clock() },
      key: undefined,
    }
    if (key !== undefined) stay.key = key
    const { role, byNumber } = standingOf(roomId, participant.id)
    const user = { ...stay.user, userName: shownName(participant.display), role, byNumber }
    if (known !== undefined && sameUser(known.user, user)) return
    stay.user = user
    if (known === undefined) {
      const room = this.#rooms.get(roomId) ?? new Map<string, Stay>()
      this.#rooms.set(roomId, room.set(user.userId, stay))
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
  return one.userName === other.userName && one.role === other.role && one.byNumber === other.byNumber
}
