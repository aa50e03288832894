import type { RecordedStream, RecordingOrder } from '../../shared/recordings/segment.ts'

/** Time for which reports about a replaced order are accepted, in milliseconds: a busy node sends them late. */
const lateMs = 60_000
/** Maximum number of orders kept per room. */
const maxKept = 20

/** Recording order sent to a node. */
interface Given {
  node: string
  order: RecordingOrder
  /** Expiry in milliseconds of a monotonic clock; Infinity: it may still be in force. */
  until: number
}

/** Recording orders sent to nodes. Reports about a stream that no order covers are rejected. */
export class GivenOrders {
  readonly #now: () => number
  readonly #byRoom = new Map<string, Given[]>()
  #sweptAt = -Infinity

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
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

  /** Whether an order sent to the node covers a stream. */
  covers(node: string, stream: RecordedStream): boolean {
    const now = this.#now()
    const given = this.#byRoom.get(stream.roomId) ?? []
    return given.some((each) => each.node === node && each.until > now && isCovered(each.order, stream))
  }

  /** Drops rooms that are no longer recorded. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < lateMs) return
    this.#sweptAt = now
    for (const [roomId, given] of this.#byRoom)
      if (given.every(({ order, until }) => isNothing(order) || until <= now)) this.#byRoom.delete(roomId)
  }
}

function isNothing({ everything, cameras, people }: RecordingOrder): boolean {
  return !everything && cameras.length === 0 && people.length === 0
}

/** Whether an order covers a stream. A camera without a substream is recorded from its main stream. */
function isCovered({ everything, cameras, people }: RecordingOrder, { userId, quality }: RecordedStream): boolean {
  const camera = cameras.find((each) => each.userId === userId)
  if (quality === 'substream') return camera?.quality === 'substream'
  return everything || camera !== undefined || people.includes(userId)
}
