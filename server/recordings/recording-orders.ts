import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { clearInterval, setInterval, setTimeout } from 'node:timers'
import type { RecordingOrder } from '../../shared/recordings/segment.ts'
import type { Settings } from '../../shared/settings.ts'
import type { SiteNodes } from '../nodes/pool/site-nodes.ts'
import type { RoomIndex } from '../nodes/pool/state/room-nodes.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import { NodeConnectionError, type NodeUser } from '../nodes/port/media-node-port.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { PoolEvent, PoolEventSource } from '../nodes/port/pool-events.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import {
  type ManualRecording,
  type RecordingRequest,
  type RecordingRequests,
  RequestsByRoom,
} from './recording-control.ts'
import { isEmpty, RoomOrders } from './room-orders.ts'
import type { ManualRecordings } from './manual-recordings.ts'
import { mayOrder, type SiteFacts } from './target-state.ts'
import { dependsOnClock, type RecordingRoomFacts, type WantedTarget, wantedOf } from './wanted-streams.ts'

/** Parts of the node pool that the orders use. */
export interface OrderPool {
  index: Pick<RoomIndex, 'nodesOf'>
  nodes: Pick<SiteNodes, 'driver'>
  presence: Pick<PresenceView, 'peopleIn' | 'occupied'> & {
    user(roomId: string, userId: string): Pick<NodeUser, 'userName' | 'device'> | undefined
  }
  events: PoolEventSource
}

/** Reason why nothing can be recorded on this site, and a message for the operator. */
export interface RecordingBlock {
  reason: NonNullable<SiteFacts['blocked']>
  message: string
}

export interface OrdersDependencies {
  store: Store
  pool: OrderPool
  /** Returns the userIds of the cameras of a room. */
  devicesOf: (roomId: string) => ReadonlySet<string>
  manual: ManualRecordings
  settings: () => Settings
  /** Reason why recording is impossible in general; undefined if it is possible. */
  blocked: () => RecordingBlock | undefined
  /** Called when the recorded streams of a room changed. */
  changed: (roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]) => void
  logger: NodeLogger
  now?: () => number
}

/** State of the orders of a room. */
interface SentOrders {
  /** Last order sent to the room's node, with the name of the node; empty: none, or the order has to be sent again. */
  sent: string
  /** Whether a node may still be recording because of an earlier order. */
  inForce: boolean
  clock: boolean
}

/** Interval at which rules that depend on the clock are evaluated, in milliseconds. */
const clockMs = 5_000
/** Interval after which all orders are sent again, in milliseconds: a node discards the order of a closed room. */
const repeatMs = 30_000
/** Delay before retrying a node, in milliseconds. */
const retryMs = 2_000
/** Timeout of a request to a node, in milliseconds. */
const nodeMs = 4_000
/** Number of rooms whose orders are sent at the same time. */
const maxAtOnce = 16

/**
 * Sends each room's order to its node, and sends it again when rules, people, schedule, clock, requests or the node
 * change. An order is computed from scratch each time and is idempotent.
 */
export class RecordingOrders implements RecordingRequests {
  readonly #dependencies: OrdersDependencies
  readonly #now: () => number
  readonly #sent = new Map<string, SentOrders>()
  /** Targets of the rooms, and orders sent to nodes. */
  readonly rooms = new RoomOrders()
  readonly #requests = new RequestsByRoom()
  readonly #queue = new Set<string>()
  readonly #stops: (() => void)[] = []
  #active = 0
  #timers: NodeJS.Timeout[] = []
  #started = false

  constructor(dependencies: OrdersDependencies) {
    this.#dependencies = dependencies
    this.#now = dependencies.now ?? Date.now
  }

  start(): void {
    const { store, pool, manual } = this.#dependencies
    this.#started = true
    this.#stops.push(
      store.leadership.onChange(() => this.reviewAll()),
      pool.events.subscribe((event) => this.#onPoolEvent(event)),
      store.onChange(
        (changes) => {
          for (const { collection, key, value } of changes) {
            if (collection === 'rooms') this.review(key, true)
            else if (collection === 'devices') this.#deviceChanged(key, value)
            else if (collection === 'recording_wishes') this.review(roomOfKey(key))
            else if (collection === 'settings') this.reviewAll()
          }
        },
        ['rooms', 'devices', 'recording_wishes', 'settings'],
      ),
    )
    this.#timers = [
      setInterval(() => this.#clock(), clockMs).unref(),
      setInterval(() => this.#repeat(), repeatMs).unref(),
    ]
    for (const { roomId } of store.all('devices').values()) this.review(roomId)
    for (const roomId of manual.rooms) this.review(roomId)
  }

  stop(): void {
    this.#started = false
    for (const stop of this.#stops.splice(0)) stop()
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    this.#queue.clear()
  }

  check(roomId: string): void {
    const { store, blocked } = this.#dependencies
    if (store.get('rooms', roomId) === undefined) throw new ApiError('roomNotFound')
    const { name, canRecord } = this.node(roomId)
    if (!canRecord)
      throw new ApiError('recordingUnavailable', { refusal: refusal('recordingImpossible', { node: name }) })
    const problem = blocked()?.message
    if (problem !== undefined)
      throw new ApiError('recordingUnavailable', { refusal: refusal('recordingsUnusable', { problem }) })
  }

  put(request: RecordingRequest): void {
    const before = this.#requests.put(request)
    if (before !== undefined && before !== request.roomId) this.review(before)
    this.review(request.roomId)
  }

  remove(id: string): void {
    const roomId = this.#requests.remove(id)
    if (roomId !== undefined) this.review(roomId)
  }

  /**
   * Schedules a new computation of a room's order.
   * @param again whether to send an unchanged order, because the node may have discarded it
   */
  review(roomId: string, again = false): void {
    if (!this.#started) return
    const state = this.#sent.get(roomId)
    if (again && state !== undefined) state.sent = ''
    this.#queue.add(roomId)
    if (this.#queue.size === 1) queueMicrotask(() => this.#work())
  }

  /** Recomputes all orders. Called when the settings changed, or the disk is full or has space again. */
  reviewAll(): void {
    for (const roomId of this.#interesting()) this.review(roomId)
  }

  /** Sends the orders of a node again, because a new process of the node has no orders. */
  restarted(node: string): void {
    for (const roomId of this.#sent.keys()) if (this.#nodeOf(roomId) === node) this.review(roomId, true)
  }

  /** Whether a rule records a target, regardless of manual recordings and requests. */
  ruleHolds({ roomId, userId = '' }: ManualRecording): boolean {
    const facts = { ...this.#facts(roomId), manuals: [], requests: [] }
    const targets = wantedOf(facts, this.#dependencies.settings().recording, this.#now())
    return targets.some((target) => target.userId === userId)
  }

  /** Returns the name of the room's node, and whether it can record. A room without a node counts as able to record. */
  node(roomId: string): { name: string; canRecord: boolean } {
    const name = this.#nodeOf(roomId)
    const driver = this.#dependencies.pool.nodes.driver(name)
    return { name, canRecord: driver === undefined || driver.setRecording !== undefined }
  }

  /** Returns the conditions under which this controller orders recordings. */
  siteFacts(): SiteFacts {
    const { store, blocked } = this.#dependencies
    return { blocked: blocked()?.reason, isLeader: store.leadership.isHeld }
  }

  #onPoolEvent(event: PoolEvent): void {
    if (event.type === 'joined' || event.type === 'left' || event.type === 'deviceLost') this.review(event.roomId)
    else if (event.type === 'roomMoved' || event.type === 'roomNodes') this.review(event.roomId, true)
    else if (event.type === 'online') this.restarted(event.name)
  }

  #deviceChanged(userId: string, value: object | undefined): void {
    for (const roomId of this.rooms.roomsOf(userId)) this.review(roomId)
    if (value !== undefined && 'roomId' in value && typeof value.roomId === 'string') this.review(value.roomId)
  }

  #interesting(): Set<string> {
    const { store, manual } = this.#dependencies
    const rooms = new Set([...this.#sent.keys(), ...manual.rooms])
    for (const { roomId } of store.all('devices').values()) rooms.add(roomId)
    for (const roomId of this.#requests.rooms) rooms.add(roomId)
    for (const roomId of store.all('meetings').keys()) rooms.add(roomId)
    return rooms
  }

  #clock(): void {
    for (const [roomId, { clock }] of this.#sent) if (clock) this.review(roomId)
  }

  #repeat(): void {
    for (const roomId of this.rooms.rooms) this.review(roomId, true)
  }

  #work(): void {
    for (const roomId of this.#queue) {
      if (this.#active >= maxAtOnce) return
      this.#queue.delete(roomId)
      this.#active++
      this.#settle(roomId)
        .catch((error: unknown) => {
          // The console shows the node as offline. The order is sent when the node is online again.
          const level = error instanceof NodeConnectionError ? 'debug' : 'warn'
          this.#dependencies.logger[level]({ err: error, room: roomId }, 'a recording order was not taken')
          setTimeout(() => this.review(roomId, true), retryMs).unref()
        })
        .finally(() => {
          this.#active--
          if (this.#started) this.#work()
        })
    }
  }

  async #settle(roomId: string): Promise<void> {
    const { settings, pool, changed, store } = this.#dependencies
    const facts = this.#facts(roomId)
    const state = this.#sent.get(roomId) ?? { sent: '', inForce: false, clock: false }
    const recording = settings().recording
    const targets = store.get('rooms', roomId) === undefined ? [] : wantedOf(facts, recording, this.#now())
    const before = this.rooms.replace(roomId, targets, this.#now())
    state.clock = (facts.occupied || facts.devices.length > 0) && dependsOnClock(facts, recording)
    if (targets.length === 0 && !state.inForce && !state.clock && before.length === 0) {
      this.#sent.delete(roomId)
      return
    }
    this.#sent.set(roomId, state)
    if (JSON.stringify(before) !== JSON.stringify(targets)) changed(roomId, before, targets)
    const node = this.#nodeOf(roomId)
    const driver = pool.nodes.driver(node)
    if (driver?.setRecording === undefined) return
    const order = orderOf(roomId, mayOrder(this.siteFacts()) ? targets : [])
    const key = JSON.stringify([node, order])
    if (key === state.sent || (isEmpty(order) && !state.inForce)) return
    state.sent = key
    state.inForce = true
    try {
      this.rooms.give(node, order)
      await driver.setRecording(order, AbortSignal.timeout(nodeMs))
      this.rooms.taken(node, order)
      if (isEmpty(order) && state.sent === key) state.inForce = false
    } catch (error) {
      state.sent = ''
      throw error
    }
  }

  #facts(roomId: string): RecordingRoomFacts {
    const { store, pool, manual, devicesOf } = this.#dependencies
    const devices = Array.from(devicesOf(roomId), (userId) => store.get('devices', userId))
    return {
      rule: store.get('rooms', roomId)?.recording,
      people: pool.presence.peopleIn(roomId),
      occupied: pool.presence.occupied(roomId),
      devices: devices.filter((device): device is StoredDevice => device !== undefined),
      manuals: manual.of(roomId),
      requests: this.#requests.of(roomId),
    }
  }

  #nodeOf(roomId: string): string {
    return this.#dependencies.pool.index.nodesOf(roomId)[0] ?? ''
  }
}

function orderOf(roomId: string, targets: readonly WantedTarget[]): RecordingOrder {
  return {
    roomId,
    everything: targets.some(({ userId }) => userId === ''),
    cameras: targets.filter(({ device }) => device).map(({ userId, quality }) => ({ userId, quality })),
    people: targets.filter(({ device, userId }) => !device && userId !== '').map(({ userId }) => userId),
  }
}

function roomOfKey(key: string): string {
  const [roomId]: unknown[] = JSON.parse(key) as unknown[]
  return typeof roomId === 'string' ? roomId : ''
}
