import {
  type MediaNode,
  NodeConnectionError,
  NodeError,
  type NodeHealth,
  type NodeRoom,
  type NodeUser,
} from '../../../server/nodes/port/media-node-port.ts'
import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'

/** What happens to one call: the node says no; it never hears of it; it does it and the answer is lost; it takes its time. */
export const callFaults = ['refused', 'lost', 'unanswered', 'slow'] as const
export type CallFault = (typeof callFaults)[number]

const none = { mode: 'none', delayMs: 0 } as const
const offline = { mode: 'offline', delayMs: 0 } as const

/**
 * A simulated node behind a bad connection. While it is frozen it answers nothing; afterwards it does what it was asked, in order, also for callers who gave up: as a
 * process does that was stopped for a while.
 */
export class FaultyNode extends SimulatedNode implements MediaNode {
  /** What each room was last opened as. */
  readonly configs = new Map<string, NodeRoom>()
  readonly #faults: CallFault[] = []
  #frozen: PromiseWithResolvers<void> | undefined
  #cut = false

  /** The next calls fail like this, one each. */
  fail(faults: readonly CallFault[]): void {
    this.#faults.push(...faults)
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers<void>()
  }

  /** The network is down: every call fails at once, and the people stay. */
  cut(): void {
    this.#cut = true
  }

  /** Its process ended, and another one took its place, with nothing in it. */
  crash(): void {
    this.setFault(offline)
    this.setFault(none)
  }

  /** Everything works from now on. */
  mend(): void {
    this.#faults.length = 0
    this.#cut = false
    this.#frozen?.resolve()
    this.#frozen = undefined
  }

  override openRoom(room: NodeRoom, signal: AbortSignal): Promise<void> {
    return this.#pass(signal, async (inner) => {
      await super.openRoom(room, inner)
      this.configs.set(room.roomId, room)
    })
  }

  override closeRoom(roomId: string, signal: AbortSignal): Promise<void> {
    return this.#pass(signal, (inner) => super.closeRoom(roomId, inner))
  }

  override users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    return this.#pass(signal, (inner) => super.users(roomId, inner))
  }

  override rooms(signal: AbortSignal): Promise<string[]> {
    return this.#pass(signal, (inner) => super.rooms(inner))
  }

  override async health(signal: AbortSignal): Promise<NodeHealth> {
    if (this.#cut) throw new NodeConnectionError('the network is down')
    await this.#frozen?.promise
    return super.health(signal)
  }

  async #pass<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#cut) throw new NodeConnectionError('the network is down')
    const fault = this.#faults.shift()
    await this.#frozen?.promise
    if (fault === 'refused') throw new NodeError('not now')
    if (fault === 'lost') return await new Promise<never>(() => undefined)
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, 10))
    const result = await run(this.#frozen === undefined && fault === undefined ? signal : new AbortController().signal)
    return fault === 'unanswered' ? await new Promise<never>(() => undefined) : result
  }
}
