import type { RecordedStream, RecordingOrder } from '../../shared/recordings/segment.ts'
import type { WantedTarget } from './wanted-streams.ts'

/**
 * Time for which reports about a replaced order are accepted, in milliseconds: a busy node sends reports with a delay.
 */
const lateMs = 60_000
/** Maximum number of orders kept per room. */
const maxKept = 20

/** Recording order sent to a node. */
interface Given {
  node: string
  order: RecordingOrder
  /** Expiry in milliseconds of a monotonic clock; Infinity: the order may still be in force. */
  until: number
}

/** Targets of a room. */
export interface RoomTargets {
  targets: readonly WantedTarget[]
  /** Start times of the targets, by user. */
  since: Map<string, number>
}

/**
 * Targets of each room, and the recording orders sent to nodes. Reports about a stream that no order includes are
 * rejected.
 */
export class RoomOrders {
  readonly #now: () => number
  readonly #rooms = new Map<string, RoomTargets>()
  readonly #targeted = new TargetedUsers()
  readonly #byRoom = new Map<string, Given[]>()
  #sweptAt = -Infinity

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Rooms with targets. */
  get rooms(): Iterable<string> {
    return this.#rooms.keys()
  }

  /** Returns the rooms in which a user is recorded. */
  roomsOf(userId: string): Iterable<string> {
    return this.#targeted.roomsOf(userId)
  }

  /** Returns the targets of a room; undefined if there are none. */
  of(roomId: string): RoomTargets | undefined {
    return this.#rooms.get(roomId)
  }

  /** Replaces the targets of a room. Returns the previous targets. @param at milliseconds since the epoch */
  replace(roomId: string, targets: readonly WantedTarget[], at: number): readonly WantedTarget[] {
    const before = this.#rooms.get(roomId)
    const users = userIds(targets)
    this.#targeted.replace(roomId, userIds(before?.targets ?? []), users)
    const since = new Map(users.map((userId) => [userId, before?.since.get(userId) ?? at]))
    if (targets.length === 0) this.#rooms.delete(roomId)
    else this.#rooms.set(roomId, { targets, since })
    return before?.targets ?? []
  }

  /** Whether a stream should be recorded now. */
  wants(stream: RecordedStream): boolean {
    return this.#targetsOf(stream).length > 0
  }

  /**
   * Returns the time for which segments of a stream are kept, in milliseconds, if the stream serves live viewing only;
   * undefined: the stream also serves other purposes, or none.
   */
  windowOf(stream: RecordedStream): number | undefined {
    const [first, ...others] = this.#targetsOf(stream)
    return others.length === 0 ? first?.windowMs : undefined
  }

  /** Records an order before it is sent: the node may follow it from now on. */
  give(node: string, order: RecordingOrder): void {
    const now = this.#now()
    const kept = (this.#byRoom.get(order.roomId) ?? []).filter(({ until }) => until > now)
    // The room was moved and is closed on its earlier node.
    for (const given of kept) if (given.node !== node) given.until = Math.min(given.until, now + lateMs)
    kept.push({ node, order, until: Infinity })
    this.#byRoom.set(order.roomId, kept.slice(-maxKept))
  }

  /** Records that the node accepted an order, which replaces its earlier orders. */
  taken(node: string, order: RecordingOrder): void {
    const now = this.#now()
    this.#sweep(now)
    const given = this.#byRoom.get(order.roomId) ?? []
    const at = given.findIndex((each) => each.node === node && each.order === order)
    for (const each of given.slice(0, Math.max(0, at)))
      if (each.node === node) each.until = Math.min(each.until, now + lateMs)
  }

  /** Whether an order sent to the node includes a stream. */
  covers(node: string, stream: RecordedStream): boolean {
    const now = this.#now()
    const given = this.#byRoom.get(stream.roomId) ?? []
    return given.some((each) => each.node === node && each.until > now && isCovered(each.order, stream))
  }

  #targetsOf(stream: RecordedStream): WantedTarget[] {
    return this.#rooms.get(stream.roomId)?.targets.filter((target) => belongsTo(target, stream)) ?? []
  }

  /** Drops rooms that are no longer recorded. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < lateMs) return
    this.#sweptAt = now
    for (const [roomId, given] of this.#byRoom)
      if (given.every(({ order, until }) => isEmpty(order) || until <= now)) this.#byRoom.delete(roomId)
  }
}

/** Whether an order records nothing. */
export function isEmpty({ everything, cameras, people }: RecordingOrder): boolean {
  return !everything && cameras.length === 0 && people.length === 0
}

/**
 * Whether a stream belongs to a target. The quality does not matter: a camera without a substream is recorded from its
 * main stream.
 */
export function belongsTo(target: Pick<WantedTarget, 'userId'>, { userId }: Pick<RecordedStream, 'userId'>): boolean {
  return target.userId === '' || target.userId === userId
}

function userIds(targets: readonly WantedTarget[]): string[] {
  return targets.map(({ userId }) => userId)
}

/** Whether an order includes a stream. A camera without a substream is recorded from its main stream. */
function isCovered({ everything, cameras, people }: RecordingOrder, { userId, quality }: RecordedStream): boolean {
  const camera = cameras.find((each) => each.userId === userId)
  if (quality === 'substream') return camera?.quality === 'substream'
  return everything || camera !== undefined || people.includes(userId)
}

/** Rooms in which a user is recorded, by user. */
class TargetedUsers {
  readonly #rooms = new Map<string, Set<string>>()

  /** Returns the rooms in which a user is recorded. */
  roomsOf(userId: string): Iterable<string> {
    return this.#rooms.get(userId) ?? []
  }

  /** Replaces the recorded users of a room. */
  replace(roomId: string, before: readonly string[], after: readonly string[]): void {
    for (const userId of before) {
      const rooms = this.#rooms.get(userId)
      rooms?.delete(roomId)
      if (rooms?.size === 0) this.#rooms.delete(userId)
    }
    for (const userId of after) {
      const rooms = this.#rooms.get(userId)
      if (rooms === undefined) this.#rooms.set(userId, new Set([roomId]))
      else rooms.add(roomId)
    }
  }
}
