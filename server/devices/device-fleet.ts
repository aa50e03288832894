import { Deadline } from '../../shared/deadline.ts'
import type { DeviceState } from '../../shared/device.ts'
import { deviceErrorMessages, deviceStates } from '../../shared/device.ts'
import { isShut } from '../schedule/room-hours.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { PoolEvent } from '../nodes/port/pool-events.ts'
import { notifyNode } from '../rooms/background.ts'
import { knownOutcome } from '../store/known-outcome.ts'
import type { StoredDevice, StoredRoom } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { AttemptGate } from './attempt-gate.ts'
import { type JoinPool, joinDevice, joinFailureOf, roomClosedFailure } from './device-joining.ts'
import { rejoins, toNodeDevice } from './device-record.ts'
import { DevicesByRoom } from './devices-by-room.ts'
import { type JoinCause, Reconnector } from './reconnect.ts'

/** Parts of the node pool that the fleet uses. */
export type FleetPool = JoinPool & Pick<NodePool, 'presence' | 'events'>

export interface DeviceFleetOptions {
  store: Store
  pool: FleetPool
  settings: () => Settings
  logger: NodeLogger
  /** Returns the current time, in milliseconds since the epoch. */
  clock: () => number
}

/**
 * Limits of the join rate: at most 640 joins start per second (64 slots, each held for at most 0.1 s), so that a start
 * with thousands of devices leaves time for other work.
 */
const gateLimits = { width: 64, patienceMs: 100, maxAtOnce: 2_048 }

/** Failures that a change of the room or of a node may resolve. */
const mendable: ReadonlySet<string> = new Set(['noNode', 'nodeFailed', 'encrypted', 'roomFull', 'roomLocked'])

interface Member {
  device: StoredDevice
  reconnector: Reconnector
}

/**
 * Keeps every stored device in its room, with one reconnector per device. The reconnectors follow the stored records,
 * the state of the room and the events of the nodes.
 */
export class DeviceFleet {
  readonly byRoom: DevicesByRoom
  readonly #options: DeviceFleetOptions
  readonly #members = new Map<string, Member>()
  readonly #gate = new AttemptGate(gateLimits)
  /** Room ids of the creations in progress, by userId. */
  readonly #reserved = new Map<string, string>()
  /**
   * Former rooms of devices that were moved or changed, by userId. A device leaves its former room before it joins
   * again.
   */
  readonly #old = new Map<string, string>()
  readonly #listeners = new Set<(userId: string) => void>()
  readonly #unsubscribe: (() => void)[] = []
  readonly #stop = new AbortController()

  constructor(options: DeviceFleetOptions) {
    this.#options = options
    this.byRoom = new DevicesByRoom(options.store)
  }

  /**
   * Starts joining the stored devices. The pool must be started before, so that devices still in their rooms are found.
   */
  start(): void {
    const { store, pool } = this.#options
    this.#unsubscribe.push(
      store.onChange((changes) => this.#follow(changes), ['devices', 'rooms']),
      pool.events.subscribe((event) => this.#guard('userId' in event ? event.userId : '', () => this.#hear(event))),
    )
    for (const device of store.all('devices').values()) this.#guard(device.userId, () => this.#start(device))
  }

  /** Ends all attempts. Devices stay joined at their nodes. */
  stop(): void {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    for (const { reconnector } of this.#members.values()) reconnector.end()
    this.byRoom.close()
  }

  /** Returns the reconnector of a device; undefined: the device does not exist. */
  reconnector(userId: string): Reconnector | undefined {
    return this.#members.get(userId)?.reconnector
  }

  /** Counts the devices by state. */
  countByState(): Record<DeviceState, number> {
    const counts = Object.fromEntries(deviceStates.map((state) => [state, 0])) as Record<DeviceState, number>
    for (const { reconnector } of this.#members.values()) counts[reconnector.state] += 1
    return counts
  }

  /**
   * Calls the listener with the userId of each device that was created, changed or deleted, possibly several times.
   * @returns a function that unsubscribes the listener
   */
  onChange(listener: (userId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Reserves a userId during the creation of a device.
   * @returns a function that ends the reservation; undefined: the userId is already reserved
   */
  reserve(userId: string, roomId: string): (() => void) | undefined {
    if (this.#reserved.has(userId)) return undefined
    this.#reserved.set(userId, roomId)
    return () => this.#reserved.delete(userId)
  }

  /** Number of creations in progress. */
  get reserved(): number {
    return this.#reserved.size
  }

  /** Returns the number of creations in progress whose device is not in its room yet. */
  joining(): number {
    let joining = 0
    for (const [userId, roomId] of this.#reserved) {
      if (this.#options.pool.presence.user(roomId, userId) === undefined) joining += 1
    }
    return joining
  }

  /** Removes a device that should not be in a room, in the background. */
  expel(roomId: string, userId: string): void {
    const { pool, logger } = this.#options
    const leave = async (): Promise<void> => {
      // The device may have been resumed or moved back meanwhile.
      if (this.#memberIn(roomId, userId)?.device.paused === false) return
      await pool.calls.removeDevice(roomId, userId)
    }
    mustNotFail(notifyNode(leave, 'an outgoing user left a room', logger))
  }

  /**
   * Waits until the outcome of a creation is known, and then removes the device from its room if it is not stored.
   * Never rejects.
   */
  async expelUnlessStored(roomId: string, userId: string): Promise<void> {
    const isKnown = await knownOutcome(this.#options.store, [`devices/${userId}`], this.#stop.signal)
    if (isKnown) this.expel(roomId, userId)
  }

  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.collection === 'devices') {
        this.#guard(change.key, () => this.#followDevice(change.key, change.value))
      } else if (change.collection === 'rooms' && change.value !== undefined) this.#followRoom(change.value)
    }
  }

  #followDevice(userId: string, device: StoredDevice | undefined): void {
    const member = this.#members.get(userId)
    if (device === undefined) {
      if (member === undefined) return
      member.reconnector.end()
      this.#members.delete(userId)
      this.#old.delete(userId)
      if (this.#present(member.device)) this.expel(member.device.roomId, userId)
      this.#notify(userId)
    } else if (member === undefined) {
      this.#start(device)
    } else {
      this.#change(member, device)
    }
  }

  #change(member: Member, device: StoredDevice): void {
    const before = member.device
    member.device = device
    const { reconnector } = member
    if (device.paused && !before.paused) {
      reconnector.pause()
      this.expel(before.roomId, before.userId)
    } else if (!device.paused && (before.paused || rejoins(before, device))) {
      this.#begin(member, 'changed', before)
    } else {
      this.#notify(device.userId)
    }
  }

  #start(device: StoredDevice): void {
    const member: Member = { device, reconnector: this.#makeReconnector(() => member) }
    this.#members.set(device.userId, member)
    if (device.paused) member.reconnector.pause()
    else if (this.#reserved.has(device.userId) && this.#present(device)) member.reconnector.joined()
    else this.#begin(member, 'due')
  }

  #makeReconnector(member: () => Member): Reconnector {
    const { pool, store, settings, clock } = this.#options
    return new Reconnector({
      attempt: (signal, failures) =>
        this.#gate.pass(signal, failures, async () => {
          await this.#leaveOld(member(), signal)
          const { node_ms, device_ms } = settings().deadlines
          const { device } = member()
          const deadline = Deadline.in(node_ms + device_ms, signal)
          await joinDevice(device.roomId, toNodeDevice(device, store), pool, deadline)
        }),
      failureOf: (error) => this.#failureOf(error),
      ladder: () => {
        const { reconnect_first_ms: first, reconnect_longest_ms, reconnect_steady_ms: steady } = settings().devices
        return { first, maxMs: Math.max(first, reconnect_longest_ms), steady }
      },
      clock,
      changed: () => this.#notify(member().device.userId),
    })
  }

  async #leaveOld({ device }: Member, signal: AbortSignal): Promise<void> {
    const roomId = this.#old.get(device.userId)
    if (roomId === undefined) return
    this.#old.delete(device.userId)
    try {
      await this.#options.pool.calls.removeDevice(roomId, device.userId, signal)
    } catch (error) {
      if (signal.aborted) this.#old.set(device.userId, roomId)
      else this.#options.logger.debug({ err: error, userId: device.userId }, 'a device was not in its former room')
    }
  }

  #begin(member: Member, cause: JoinCause, before?: StoredDevice): void {
    const { device, reconnector } = member
    // After a lost connection, the former room may still contain the device.
    if (before !== undefined && (before.roomId !== device.roomId || this.#present(before)))
      this.#old.set(device.userId, before.roomId)
    const room = this.#options.store.get('rooms', device.roomId)
    if (room !== undefined && isShut(room)) {
      const former = this.#old.get(device.userId)
      this.#old.delete(device.userId)
      reconnector.hold(roomClosedFailure)
      if (former !== undefined) this.expel(former, device.userId)
    } else reconnector.join(cause)
  }

  #followRoom(room: StoredRoom): void {
    for (const userId of this.byRoom.of(room.room_id)) {
      const member = this.#members.get(userId)
      if (member !== undefined && !member.device.paused) {
        this.#guard(userId, () => followRoom(member.reconnector, isShut(room)))
      }
    }
  }

  #hear(event: PoolEvent): void {
    if (event.type === 'online') this.#nodeOnline(event.name)
    else if (event.type === 'deviceLost') {
      const { roomId, userId, kind } = event
      const member = this.#memberIn(roomId, userId)
      member?.reconnector.lost({ kind, message: deviceErrorMessages[kind] })
    } else if (event.type === 'joined' && event.user.device) this.#appeared(event.roomId, event.user.userId)
    else if (event.type === 'left' && event.user.device) this.#left(event.roomId, event.user.userId)
  }

  #nodeOnline(name: string): void {
    const { store } = this.#options
    for (const { device, reconnector } of this.#members.values()) {
      if (reconnector.state !== 'waiting' || reconnector.lastError?.hold === true) continue
      const kind = reconnector.lastError?.kind
      if (kind === undefined || mendable.has(kind) || store.get('rooms', device.roomId)?.node === name) {
        this.#guard(device.userId, () => reconnector.join())
      }
    }
  }

  /**
   * Handles a device that has joined a room. Removes it if no stored device belongs there, e.g. because a crash
   * interrupted its creation or removal.
   */
  #appeared(roomId: string, userId: string): void {
    if (this.#reserved.get(userId) === roomId) return
    const member = this.#memberIn(roomId, userId)
    if (member === undefined || member.device.paused) this.expel(roomId, userId)
    else if (member.reconnector.state === 'waiting') member.reconnector.join()
  }

  /**
   * Handles a device that left its room. If another event with a reason arrives in the same turn, that reason applies;
   * otherwise the connection was lost.
   */
  #left(roomId: string, userId: string): void {
    const member = this.#memberIn(roomId, userId)
    if (member?.reconnector.state !== 'joined') return
    const { generation } = member.reconnector
    queueMicrotask(() => {
      this.#guard(userId, () => {
        if (member.reconnector.generation !== generation || this.#present(member.device)) return
        member.reconnector.lost({ kind: 'closed', message: deviceErrorMessages.closed })
      })
    })
  }

  #failureOf(error: unknown): ReturnType<typeof joinFailureOf> {
    const failure = joinFailureOf(error)
    if (failure.kind === 'nodeFailed') this.#options.logger.warn({ err: error }, 'a device could not join')
    return failure
  }

  #memberIn(roomId: string, userId: string): Member | undefined {
    const member = this.#members.get(userId)
    return member?.device.roomId === roomId ? member : undefined
  }

  #present(device: StoredDevice): boolean {
    return this.#options.pool.presence.user(device.roomId, device.userId)?.device === true
  }

  #notify(userId: string): void {
    for (const listener of this.#listeners) this.#guard(userId, () => listener(userId))
  }

  /** Runs a step for one device. An unexpected error is logged and does not affect other devices. */
  #guard(userId: string, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#options.logger.error({ err: error, userId }, 'an unexpected error concerned one device')
    }
  }
}

/**
 * Applies a change of a device's room. If the room is closed, stops the attempts; otherwise retries if the change may
 * have resolved the failure.
 */
function followRoom(reconnector: Reconnector, closed: boolean): void {
  const failure = reconnector.lastError
  if (closed) {
    if (failure?.hold !== true || reconnector.state !== 'waiting') reconnector.hold(roomClosedFailure)
  } else if (reconnector.state === 'waiting' && failure !== undefined && mendable.has(failure.kind)) {
    reconnector.join()
  }
}
