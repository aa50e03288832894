import { takeIn } from './state/arrivals.ts'
import type { NodeEvent } from '../port/media-node-port.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { LiveNode } from './state/live-node.ts'

/** Takes in what the nodes tell: keeps presence and passes it on. O(1) per event. */
export class EventIntake {
  readonly #context: PoolContext
  readonly #onEmptied: (node: LiveNode, roomId: string) => void

  /** @param onEmptied called when the last user on that node left a room */
  constructor(context: PoolContext, onEmptied: (node: LiveNode, roomId: string) => void) {
    this.#context = context
    this.#onEmptied = onEmptied
  }

  take(node: LiveNode, event: NodeEvent): void {
    if (event.type === 'restarted') {
      node.steadiness.lost()
      node.placement.forget()
      node.health.pollSoon()
      return
    }
    if (event.type === 'drifted') return this.#context.drift.found(node.name, event.kind, event.subjects)
    if (event.type === 'described') return this.#context.events.emit({ type: 'nodeDescribed', name: node.name })
    if (event.type === 'streamShort') return this.#short(node, event)
    if (event.type === 'joined') {
      node.placement.heard(event.roomId, event.user.userId)
      // A room that is not the node's own is on its way to be closed there.
      if (node.placement.wants(event.roomId)) takeIn(this.#context, node.name, event)
    } else {
      node.placement.heard(event.roomId, event.userId)
      this.#left(node, event)
    }
  }

  #short(node: LiveNode, event: Extract<NodeEvent, { type: 'streamShort' }>): void {
    const { presence, events } = this.#context
    const { type, roomId, userId, shortcomings } = event
    const session = presence.sessionOf(roomId, userId)
    if (session?.node === node.name) events.emit({ type, name: node.name, roomId, user: session.user, shortcomings })
  }

  #left(node: LiveNode, event: Extract<NodeEvent, { type: 'left' | 'deviceLost' }>): void {
    const { presence, events } = this.#context
    const { roomId, userId } = event
    // Users who have since joined on another node of the room are there.
    if (presence.sessionOf(roomId, userId)?.node !== node.name) return
    const user = presence.leave(roomId, userId)
    if (user === undefined) return
    events.emitDepartures(node.name, [{ roomId, user }])
    if (event.type === 'deviceLost') {
      const { kind, detail } = event
      events.emit({ type: 'deviceLost', name: node.name, roomId, userId, kind, detail })
    }
    if (presence.peopleAt(roomId, node.name) === 0) this.#onEmptied(node, roomId)
  }
}
