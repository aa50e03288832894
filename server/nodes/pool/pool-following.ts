import { inBackground } from '../../../shared/unawaited.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change } from '../../store/store.ts'
import { isShut } from '../../schedule/room-hours.ts'
import type { SecondaryUpkeep } from './choice/secondary-upkeep.ts'
import type { Drainer } from './choice/drainer.ts'
import type { Eligibility } from './choice/choose-node.ts'
import { type LeftRoom, type Relocation, roomsInUse } from './choice/relocation.ts'
import type { NodeEvent } from '../port/media-node-port.ts'
import type { NodeDrivers } from '../port/node-driver.ts'
import type { NodeAnnouncements } from './site-nodes.ts'
import { NodeRoster, type RosterListener } from './node-roster.ts'
import { sameNodes } from './state/room-nodes.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { HealthState, LiveNode } from './state/live-node.ts'
import { removeStray, takeIn } from './placement/reported-users.ts'

export interface FollowingDependencies {
  context: PoolContext
  drivers: NodeDrivers
  eligibility: Eligibility
  relocation: Relocation
  drainer: Drainer
  upkeep: SecondaryUpkeep
  announcements: NodeAnnouncements
}

/** Handles changes of the store and events of the nodes: moves and closes rooms, and makes nodes match the store. */
export class PoolFollowing implements RosterListener {
  /** The nodes in service. */
  readonly roster: NodeRoster
  readonly #context: PoolContext
  readonly #dependencies: FollowingDependencies
  readonly #unsubscribe: () => void

  constructor(dependencies: FollowingDependencies) {
    const { context, drivers, announcements } = dependencies
    this.#context = context
    this.#dependencies = dependencies
    this.roster = new NodeRoster({ context, drivers, announcements, listener: this })
    this.#unsubscribe = context.store.onChange((changes) => this.#follow(changes), ['rooms', 'nodes'])
  }

  /** Ends the subscription to the store. */
  stop(): void {
    this.#unsubscribe()
  }

  onState(node: LiveNode, state: HealthState, error: unknown): void {
    this.#dependencies.announcements.note(node, error)
    if (state === 'offline') return this.#lost(node)
    // Rooms that found no other node before may now find a node.
    for (const other of this.#context.live.values()) other.drained = false
    this.#inBackground(this.#dependencies.upkeep.review(node.name))
  }

  onHealthy(node: LiveNode): void {
    const { last, lastSuccess } = node.health
    if (last !== undefined) node.placement.healthy(last, lastSuccess)
    this.#dependencies.drainer.work(node)
  }

  onFailure(node: LiveNode, error: unknown): void {
    if (!node.online) this.#dependencies.announcements.note(node, error)
  }

  /** Applies an event of a node to presence and passes it on. O(1). */
  onEvent(node: LiveNode, event: NodeEvent): void {
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
      node.placement.noteUser(event.roomId, event.user.userId)
      // A room that the node should not hold is about to be closed there.
      if (node.placement.wants(event.roomId)) takeIn(this.#context, node.name, event)
    } else {
      node.placement.noteUser(event.roomId, event.userId)
      this.#left(node, event)
    }
  }

  async onLeaving(rooms: readonly LeftRoom[]): Promise<void> {
    await this.#dependencies.relocation.move(rooms)
  }

  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.collection === 'rooms') this.#followRoom(change.key, change.value)
      else if (change.collection === 'nodes') this.#followNode(change.key)
    }
  }

  #followNode(name: string): void {
    const { eligibility, drainer, upkeep } = this.#dependencies
    eligibility.nodesChanged()
    this.roster.follow(name)
    const node = this.#context.live.get(name)
    if (node !== undefined) drainer.work(node)
    this.#inBackground(upkeep.review(name))
  }

  /**
   * Removes users from nodes that no longer hold the room, and updates all current and previous nodes of the room. O(1)
   * in rooms.
   */
  #followRoom(roomId: string, room: StoredRoom | undefined): void {
    const { index, live, presence, events } = this.#context
    const before = index.set(roomId, room)
    const nodes = index.nodesOf(roomId)
    const [from = ''] = before
    const [own = ''] = nodes
    const lost = room === undefined || isShut(room) ? '' : 'The room moves to another MCU.'
    for (const name of before) {
      if (nodes.includes(name)) continue
      events.emitDepartures(name, presence.clear(roomId, name), lost)
      live.get(name)?.placement.follow(roomId)
    }
    // People stay on the previous primary node, but devices belong on the new primary node.
    if (from !== own && nodes.includes(from)) this.#leaveDevices(roomId, from, lost)
    this.#tellNodes(roomId, room, nodes)
    if (from !== '' && own !== '' && from !== own) events.emit({ type: 'roomMoved', name: own, roomId, from })
    for (const name of index.reservedOn(roomId)) if (!nodes.includes(name)) live.get(name)?.placement.follow(roomId)
    if (sameNodes(before, nodes)) return
    for (const name of nodes) if (name === from || !before.includes(name)) this.#dependencies.upkeep.used(roomId, name)
    events.emit({ type: 'roomNodes', roomId, nodes })
  }

  #tellNodes(roomId: string, room: StoredRoom | undefined, nodes: readonly string[]): void {
    const { eligibility, relocation } = this.#dependencies
    const [own, ...secondaries] = nodes
    if (own === undefined || room === undefined) return
    const node = this.#context.live.get(own)
    const mayStay = node === undefined || eligibility.mayHave(node, room, true)
    if (mayStay) node?.placement.follow(roomId)
    else this.#inBackground(relocation.leave(roomId, own))
    for (const name of secondaries) this.#context.live.get(name)?.placement.follow(roomId)
  }

  #leaveDevices(roomId: string, node: string, lost: string): void {
    const { presence, events } = this.#context
    const departures = presence.clear(roomId, node, ({ device }) => device)
    for (const { user } of departures) removeStray(this.#context, { node, roomId, user })
    events.emitDepartures(node, departures, lost)
  }

  #lost(node: LiveNode): void {
    const { presence, events } = this.#context
    const rooms = roomsInUse(this.#context, node.name)
    node.placement.forget()
    for (const roomId of presence.roomsOn(node.name)) {
      events.emitDepartures(node.name, presence.clear(roomId, node.name), 'The MCU went offline.')
    }
    this.#inBackground(this.#dependencies.relocation.move(rooms))
    this.#inBackground(this.#dependencies.upkeep.review(node.name))
  }

  #inBackground(work: Promise<void>): void {
    inBackground(work, 'rooms did not follow a change of their nodes', this.#context.logger)
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
    // Ignores users who have since joined on another node of the room.
    if (presence.sessionOf(roomId, userId)?.node !== node.name) return
    const user = presence.leave(roomId, userId)
    if (user === undefined) return
    events.emitDepartures(node.name, [{ roomId, user }])
    if (event.type === 'deviceLost') {
      const { kind, detail } = event
      events.emit({ type: 'deviceLost', name: node.name, roomId, userId, kind, detail })
    }
    if (presence.peopleAt(roomId, node.name) > 0) return
    this.#dependencies.upkeep.used(roomId, node.name)
    this.#dependencies.drainer.consider(node, roomId)
  }
}
