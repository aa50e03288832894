import {
  type MediaNode,
  NodeConnectionError,
  NodeError,
  type NodeHealth,
  type NodeRoom,
  type NodeUser,
} from '../../../server/nodes/port/media-node-port.ts'
import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'

/** Faults of one call: refused by the node; lost on its way; done, but the answer is lost; slow. */
export const callFaults = ['refused', 'lost', 'unanswered', 'slow'] as const
export type CallFault = (typeof callFaults)[number]

const none = { mode: 'none', delayMs: 0 } as const
const offline = { mode: 'offline', delayMs: 0 } as const

/**
 * A simulated node behind a bad connection. While frozen it answers nothing; afterwards it carries out the requests in order, also for callers who gave up, like a
 * process that was stopped for a while.
 */
export class FaultyNode extends SimulatedNode implements MediaNode {
  /** Last configuration of each room. */
  readonly configs = new Map<string, NodeRoom>()
  readonly #faults: CallFault[] = []
  #frozen: PromiseWithResolvers<void> | undefined
  #cut = false

  /** Makes the next calls fail with these faults, one each. */
  fail(faults: readonly CallFault[]): void {
    this.#faults.push(...faults)
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers<void>()
  }

  /** Takes the network down: every call fails at once, and the users stay. */
  cut(): void {
    this.#cut = true
  }

  /** Replaces the process by a new one without state. */
  crash(): void {
    this.setFault(offline)
    this.setFault(none)
  }

  /** Removes all faults. */
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
