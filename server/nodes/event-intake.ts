import type { NodeEvent } from './media-node.ts'
import type { PoolContext } from './pool-context.ts'
import type { PoolNode } from './pool-node.ts'

/** Takes in what the nodes tell: keeps presence and passes it on. O(1) per event. */
export class EventIntake {
  readonly #context: PoolContext
  readonly #onEmptied: (node: PoolNode, roomId: string) => void

  /** `onEmptied` hears of a room that its last person left. */
  constructor(context: PoolContext, onEmptied: (node: PoolNode, roomId: string) => void) {
    this.#context = context
    this.#onEmptied = onEmptied
  }

  take(node: PoolNode, event: NodeEvent): void {
    if (event.type === 'restarted') {
      node.steadiness.lost()
      node.placement.forget()
      node.health.pollSoon()
      return
    }
    if (event.type === 'joined') {
      node.placement.heard(event.roomId, event.user.userId)
      this.#joined(node, event)
    } else {
      node.placement.heard(event.roomId, event.userId)
      this.#left(node, event)
    }
  }

  #joined(node: PoolNode, { roomId, user }: Extract<NodeEvent, { type: 'joined' }>): void {
    const { presence, events, expected } = this.#context
    // A room that is not the node's own is on its way to be closed there.
    if (!node.placement.wants(roomId)) return
    const elsewhere = presence.nodeOf(roomId)
    if (elsewhere !== undefined && elsewhere !== node.name) events.emitDepartures(elsewhere, presence.clear(roomId))
    // The same stay, changed: a member became host. The order of the room stays.
    if (presence.change(roomId, user)) return events.emit({ type: 'joined', name: node.name, roomId, user })
    const before = presence.leave(roomId, user.userId)
    if (before !== undefined) events.emitDepartures(node.name, [{ roomId, user: before }])
    presence.join(node.name, roomId, user)
    expected.came(roomId)
    events.emit({ type: 'joined', name: node.name, roomId, user })
  }

  #left(node: PoolNode, event: Extract<NodeEvent, { type: 'left' | 'deviceLost' }>): void {
    const { presence, events } = this.#context
    const { roomId, userId } = event
    if (presence.nodeOf(roomId) !== node.name) return
    const user = presence.leave(roomId, userId)
    if (user === undefined) return
    events.emitDepartures(node.name, [{ roomId, user }])
    if (event.type === 'deviceLost') {
      const { kind, detail } = event
      events.emit({ type: 'deviceLost', name: node.name, roomId, userId, kind, detail })
    }
    if (presence.peopleIn(roomId) === 0) this.#onEmptied(node, roomId)
  }
}
