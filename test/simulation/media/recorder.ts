import type { MediaNode } from '../../../server/nodes/port/media-node-port.ts'
import type { RecordingOrder } from '../../../shared/recordings/segment.ts'
import { electionTimes } from '../../../server/store/election/timings.ts'
import type { Machine } from '../machine.ts'
import type { World } from '../world.ts'

/** After how long without a word of its controller a media program ends, in milliseconds: see LeadWatch. */
const silentMs = electionTimes.lease
/** How long a media program takes to take an order, in milliseconds. */
const orderMs = 2

/** The media program of one controller: it records what it was told last. It ends with its controller, or when that says nothing any more. */
export class SimulatedRecorder {
  readonly #world: World
  readonly #machine: Machine
  readonly #orders = new Map<string, RecordingOrder>()
  #confirmedAt = 0
  /** The controller gave it up. */
  #isOver = true

  constructor(world: World, machine: Machine) {
    this.#world = world
    this.#machine = machine
  }

  /** Its controller begins to lead: a new program starts. */
  start(): void {
    this.#orders.clear()
    this.#isOver = false
    this.#confirmedAt = this.#world.time
  }

  /** It ends, and everything that it was told with it. */
  end(): void {
    this.#orders.clear()
    this.#isOver = true
  }

  /** Its controller says that it leads. @returns false: the program had ended meanwhile, and another one has started that knows no orders */
  confirm(): boolean {
    const wasAlive = this.isAlive
    this.#confirmedAt = this.#world.time
    if (!wasAlive) this.#orders.clear()
    return wasAlive
  }

  /** It runs: a frozen controller stops talking to it, and it ends by itself. */
  get isAlive(): boolean {
    return !this.#isOver && this.#world.time - this.#confirmedAt <= silentMs
  }

  /** Names of everything that is recorded now: `<room>` for all of a room, `<room>/<user>` for a user. */
  get recorded(): readonly string[] {
    if (!this.isAlive || this.#machine.stopped === 'suspended' || this.#machine.isOff) return []
    return [...this.#orders.values()].flatMap(({ roomId, everything, people, cameras }) => [
      ...(everything ? [roomId] : []),
      ...[...people, ...cameras.map(({ userId }) => userId)].map((userId) => `${roomId}/${userId}`),
    ])
  }

  /** As the driver of its node. */
  get driver(): Pick<Required<MediaNode>, 'setRecording'> {
    return {
      setRecording: async (order) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#machine.after(orderMs, resolve)
        await promise
        if (this.isAlive) this.#orders.set(order.roomId, order)
      },
    }
  }
}
