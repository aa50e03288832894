import { Deadline } from '../../shared/deadline.ts'
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { deviceInput, DeviceMoment, DeviceView, ProbedCamera, ProbeResult } from '../../shared/domain/devices.ts'
import { isShut } from '../schedule/room-hours.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import type { DeviceState } from '../../shared/device.ts'
import { limits } from '../../shared/limits.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { lockOf } from '../rooms/room-record.ts'
import { shutError } from '../rooms/schedule-marks.ts'
import { SiteLimits } from '../rooms/site-limits.ts'
import { withTags } from '../rooms/tags/tag-change.ts'
import type { StoredDevice } from '../store/records.ts'
import { isOutcomeUnknown } from '../store/storage-error.ts'
import type { Store, Transaction } from '../store/store.ts'
import { bySystem, type Deletion, type Trash } from '../store/trash/trash.ts'
import { parseDeviceAddress, sameAddress } from '../../shared/device-address.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { assistAddressOf, takesOldTls } from './device-options.ts'
import { DeviceFleet, type FleetPool } from './device-fleet.ts'
import { DeviceHistory } from './device-history.ts'
import { joinDevice, joinErrorOf } from './device-joining.ts'
import { type DeviceChanges, changedDevice, newDevice, type NewDevice } from './device-record.ts'
import { deviceViewOf } from './device-view.ts'
import { type DeviceProbe, runProbe, simulatedProbe } from './device-probe.ts'
import { loginToTry } from './stored-login.ts'

export interface OutgoingUsersOptions {
  store: Store
  pool: FleetPool
  trash: Pick<Trash, 'moveToTrash'>
  licence: { expired(): boolean }
  settings: () => Settings
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** Probe of real devices; undefined: probes are simulated. */
  probe?: () => DeviceProbe | undefined
}

/** Outgoing user as the operator adds it. */
export type ConsoleDevice = z.output<typeof deviceInput>

/**
 * Outgoing users: external devices joined to rooms (specification, section 2.3; contract, section 4), for the API and
 * the operator.
 */
export class OutgoingUsers {
  readonly #store: Store
  readonly #pool: OutgoingUsersOptions['pool']
  readonly #trash: OutgoingUsersOptions['trash']
  readonly #limits: SiteLimits
  readonly #settings: () => Settings
  readonly #clock: () => number
  readonly #probe: () => DeviceProbe | undefined
  readonly #fleet: DeviceFleet
  readonly #history: DeviceHistory

  constructor(options: OutgoingUsersOptions) {
    const { clock = Date.now } = options
    this.#store = options.store
    this.#pool = options.pool
    this.#trash = options.trash
    this.#limits = new SiteLimits(options)
    this.#settings = options.settings
    this.#clock = clock
    this.#probe = options.probe ?? (() => undefined)
    this.#fleet = new DeviceFleet({ ...options, clock })
    this.#history = new DeviceHistory({
      onChange: (listener) => this.#fleet.onChange(listener),
      view: (userId) => this.view(userId),
    })
  }

  /** Starts joining the stored devices. The pool must be started before. */
  start(): void {
    this.#fleet.start()
  }

  stop(): void {
    this.#fleet.stop()
    this.#history.close()
  }

  /**
   * createOutgoingUser: resolves when the device has joined its room and is stored. If it fails, nothing remains.
   * @throws ApiError parameter, roomNotFound, roomClosed, userExists, createUnavailable, licenceExpired,
   * licenceExceeded, joinFailed, joinTimeout, noNode, nodeOffline, nodeTimeout, storage
   */
  async create(given: NewDevice): Promise<StoredDevice> {
    return await this.#reserved(newDevice(given, this.#store, this.#clock()), false, async (device) => {
      this.#checkEngine('createUnavailable')
      this.#checkRoomFor()
      await this.#join(device)
      await this.#insert(device, true)
    })
  }

  /**
   * Adds a device for the operator: stores it, and joins it in the background.
   * @throws ApiError as `create` does, except for the join
   */
  async add(given: ConsoleDevice): Promise<StoredDevice> {
    const device = newDevice(this.#fromConsole(given), this.#store, this.#clock())
    return await this.#reserved(device, true, async () => {
      this.#checkRoomFor()
      await this.#insert(device, false)
    })
  }

  /** Adds a device for the operator and requires that it joins. @throws ApiError as `create` does */
  addJoined(given: ConsoleDevice): Promise<StoredDevice> {
    return this.create(this.#fromConsole(given))
  }

  /**
   * destroyOutgoingUser: resolves when it has left its room and its record is deleted.
   * @throws ApiError parameter, roomNotFound, outgoingUserNotFound (also if the address differs), destroyUnavailable,
   * nodeTimeout, storage
   */
  async destroy(roomId: string, userId: string, userAddress: string, deletion: Deletion): Promise<void> {
    const { address } = parseDeviceAddress(userAddress)
    if (this.#store.get('rooms', roomId) === undefined) throw new ApiError('roomNotFound')
    const device = this.#store.get('devices', userId)
    if (device?.roomId !== roomId) throw new ApiError('outgoingUserNotFound')
    if (!sameAddress(device.userAddress, address)) {
      throw new ApiError('outgoingUserNotFound', { refusal: refusal('deviceOtherAddress') })
    }
    this.#checkEngine('destroyUnavailable')
    await this.remove(userId, deletion)
  }

  /**
   * Removes a device from its room, then moves it to the trash. If its node does not respond, or the store fails, it
   * stays and joins again.
   * @throws ApiError outgoingUserNotFound, nodeTimeout, storage
   */
  async remove(userId: string, deletion: Deletion = bySystem): Promise<void> {
    const { roomId } = this.#existing(userId)
    const reconnector = this.#fleet.reconnector(userId)
    const paused = reconnector?.state === 'paused'
    if (!paused) reconnector?.suspend()
    try {
      await this.#leave(roomId, userId)
      await this.#mutate(userId, (record, transaction) => {
        this.#trash.moveToTrash(transaction, { kind: 'devices', record }, deletion)
        return undefined
      })
    } catch (error) {
      if (!paused) reconnector?.join()
      throw error
    }
  }

  /**
   * getOutgoingUsers: lists the outgoing users of one room, or of all (empty roomId), in order of creation.
   * @throws ApiError listUnavailable
   */
  list(roomId = ''): StoredDevice[] {
    this.#checkEngine('listUnavailable')
    return this.#of(roomId)
  }

  /** Returns the userIds of a room's outgoing users, in order of creation. */
  of(roomId: string): ReadonlySet<string> {
    return this.#fleet.byRoom.of(roomId)
  }

  /** Returns outgoing users for the console, of one room or of all (empty roomId), in order of creation. */
  views(roomId = ''): DeviceView[] {
    return this.#of(roomId).map((device) => this.#view(device))
  }

  /** Returns one outgoing user for the console; undefined if it does not exist. */
  view(userId: string): DeviceView | undefined {
    const device = this.#store.get('devices', userId)
    return device === undefined ? undefined : this.#view(device)
  }

  #view(device: StoredDevice): DeviceView {
    const topic = this.#store.get('rooms', device.roomId)?.topic ?? ''
    return deviceViewOf(device, topic, this.#fleet.reconnector(device.userId))
  }

  /** Returns the events of a device, newest first. */
  history(userId: string): DeviceMoment[] {
    return this.#history.of(userId)
  }

  /** Counts the outgoing users by state. */
  countByState(): Record<DeviceState, number> {
    return this.#fleet.countByState()
  }

  /**
   * Calls the listener with the userId of each outgoing user that was created or deleted, or whose record or state
   * changed, possibly several times. Returns the unsubscribe function.
   */
  onChange(listener: (userId: string) => void): () => void {
    return this.#fleet.onChange(listener)
  }

  /**
   * Changes or moves a device. It joins again if its address, login or room changed.
   * @throws ApiError parameter, outgoingUserNotFound, roomNotFound, storage
   */
  update(userId: string, changes: DeviceChanges): Promise<StoredDevice> {
    return this.#mutate(userId, (device) => changedDevice(device, changes, this.#store), changes.roomId)
  }

  /**
   * Changes the tags of a device.
   * @throws ApiError outgoingUserNotFound, parameter (too many for one device), storage
   */
  changeTags(userId: string, change: (tags: readonly string[]) => readonly string[]): Promise<StoredDevice> {
    return this.#mutate<StoredDevice>(userId, (device) => withTags(device, change(device.tags ?? [])))
  }

  /** Removes a device from its room, and keeps its record. @throws ApiError outgoingUserNotFound, storage */
  pause(userId: string): Promise<StoredDevice> {
    return this.#mutate(userId, (device) => (device.paused ? device : { ...device, paused: true }))
  }

  /** Lets a paused device join again. @throws ApiError outgoingUserNotFound, storage */
  resume(userId: string): Promise<StoredDevice> {
    return this.#mutate(userId, (device) => (device.paused ? { ...device, paused: false } : device))
  }

  /**
   * Retries at once instead of at the next scheduled attempt, even if the login was refused too often.
   * @throws ApiError outgoingUserNotFound; RefusalError 'conflict' if the device is paused
   */
  retry(userId: string): void {
    if (this.#existing(userId).paused) throw new RefusalError(refusal('devicePaused'))
    this.#fleet.reconnector(userId)?.join('operator')
  }

  /**
   * Probes a device without adding it. With the userId of an existing device, its login is used unless one is
   * specified.
   * @throws ApiError parameter, also if the stored password would be sent to another host
   */
  async probe(given: ProbedCamera): Promise<ProbeResult> {
    const parsed = parseDeviceAddress(given.userAddress)
    const device = given.userId === undefined ? undefined : this.#store.get('devices', given.userId)
    const login = loginToTry(parsed, given, device, this.#store)
    const probe = this.#probe()
    if (probe === undefined) return simulatedProbe
    const known = given.assist_address ?? (device === undefined ? '' : assistAddressOf(device))
    const oldTls = given.old_tls ?? (device !== undefined && takesOldTls(device))
    const camera = { address: parsed, login, oldTls }
    return runProbe(probe, camera, this.#settings().deadlines.device_ms, known.trim() === '')
  }

  #of(roomId: string): StoredDevice[] {
    if (roomId === '') return [...this.#store.all('devices').values()]
    return Array.from(this.of(roomId), (userId) => this.#store.get('devices', userId)).filter(
      (device) => device !== undefined,
    )
  }

  #existing(userId: string): StoredDevice {
    const device = this.#store.get('devices', userId)
    if (device === undefined) throw new ApiError('outgoingUserNotFound')
    return device
  }

  #fromConsole(given: ConsoleDevice): NewDevice {
    const { login_name, login_password, assist_address, old_tls, userId = this.#unusedId(), ...rest } = given
    const options = Object.entries({ login_name, login_password, assist_address, old_tls }).filter(([, value]) => value)
    return { ...rest, userId, options: Object.fromEntries(options) }
  }

  #unusedId(): string {
    for (;;) {
      const userId = `device-${randomBytes(4).toString('hex')}`
      if (this.#store.get('devices', userId) === undefined) return userId
    }
  }

  /**
   * Creates a device while its userId is reserved. If the outcome is unknown, it stays reserved and in its room until
   * the outcome is known.
   */
  async #reserved(
    device: StoredDevice,
    closedToo: boolean,
    create: (device: StoredDevice) => Promise<void>,
  ): Promise<StoredDevice> {
    const release = this.#reserve(device, closedToo)
    let known: Promise<void> | undefined
    try {
      await create(device)
      return device
    } catch (error) {
      if (isOutcomeUnknown(error)) known = this.#fleet.expelUnlessStored(device.roomId, device.userId)
      throw error
    } finally {
      if (known === undefined) release()
      else mustNotFail(known.finally(release))
    }
  }

  /** Checks room and userId, and reserves the userId. @throws ApiError roomNotFound, roomClosed, userExists */
  #reserve({ roomId, userId }: StoredDevice, closedToo: boolean): () => void {
    const room = this.#store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    if (!closedToo && isShut(room)) throw shutError(room)
    const taken =
      this.#store.get('devices', userId) !== undefined || this.#pool.presence.user(roomId, userId)?.device === false
    const release = taken ? undefined : this.#fleet.reserve(userId, roomId)
    if (release === undefined) throw new ApiError('userExists')
    return release
  }

  #checkEngine(error: 'createUnavailable' | 'destroyUnavailable' | 'listUnavailable'): void {
    const engine = this.#pool.nodes.engine()
    if (engine === 'stopped') throw new ApiError(error)
    if (engine === 'unresponsive') throw new ApiError('nodeTimeout')
  }

  /**
   * Checks the licence and the limits of the site, without counting the caller's own reservation.
   * @throws ApiError licenceExpired, licenceExceeded, joinFailed
   */
  #checkRoomFor(): void {
    this.#limits.checkLicence()
    this.#limits.checkUsers(Math.max(0, this.#fleet.joining() - 1))
    if (this.#store.all('devices').size + this.#fleet.reserved > limits.devices) {
      throw new ApiError('joinFailed', {
        refusal: refusal('deviceLimit', { limit: limits.devices }),
      })
    }
  }

  async #join(device: StoredDevice): Promise<void> {
    try {
      await joinDevice(device, this.#pool, this.#store, Deadline.in(this.#settings().deadlines.device_ms))
    } catch (error) {
      // Its node went offline between two steps, and no other node is available.
      const nodeGone = error instanceof ApiError && (error.code === 'nodeOffline' || error.code === 'noNode')
      if (nodeGone) this.#checkEngine('createUnavailable')
      throw joinErrorOf(error)
    }
  }

  /**
   * Stores a new outgoing user. If it joined but cannot be stored, it leaves its room again.
   * @throws ApiError roomNotFound, roomClosed, userExists, storage
   */
  async #insert(device: StoredDevice, joined: boolean): Promise<void> {
    const { roomId, userId } = device
    try {
      await this.#store.transact([lockOf(roomId), `devices/${userId}`], (transaction) => {
        const room = this.#store.get('rooms', roomId)
        if (room === undefined) throw new ApiError('roomNotFound')
        if (joined && isShut(room)) throw shutError(room)
        if (this.#store.get('devices', userId) !== undefined) throw new ApiError('userExists')
        transaction.put('devices', userId, device)
      })
    } catch (error) {
      if (joined && !isOutcomeUnknown(error)) this.#fleet.expel(roomId, userId)
      throw error
    }
  }

  /**
   * Removes the device from its room. If its node is unreachable or refuses, the device is removed when the node
   * returns.
   * @throws ApiError nodeTimeout
   */
  async #leave(roomId: string, userId: string): Promise<void> {
    try {
      await this.#pool.calls.removeDevice(roomId, userId)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 'nodeTimeout') throw error
    }
  }

  /**
   * Makes one durable change to a record; undefined removes it. Holds the locks of its room, so that deleting a room
   * deletes all its devices.
   */
  async #mutate<T extends StoredDevice | undefined>(
    userId: string,
    change: (device: StoredDevice, transaction: Transaction) => T,
    newRoomId?: string,
  ): Promise<T> {
    for (;;) {
      const { roomId } = this.#existing(userId)
      const locks = new Set([lockOf(roomId), lockOf(newRoomId ?? roomId), `devices/${userId}`])
      const outcome = await this.#store.transact([...locks], (transaction) => {
        const before = this.#existing(userId)
        // The device was moved while this call waited: the locks are those of the former room.
        if (before.roomId !== roomId) return { moved: true as const }
        const after = change(before, transaction)
        if (after === undefined) transaction.delete('devices', userId)
        else if (after !== before) {
          if (this.#store.get('rooms', after.roomId) === undefined) throw new ApiError('roomNotFound')
          transaction.put('devices', userId, after)
        }
        return { moved: false as const, after }
      })
      if (!outcome.moved) return outcome.after
    }
  }
}
