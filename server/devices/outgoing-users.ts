import type { DeviceView, ProbedCamera, ProbeResult } from '../../shared/domain/devices.ts'
import { parseDeviceAddress, sameAddress } from '../../shared/device-address.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { lockOf } from '../rooms/room-record.ts'
import { withTags } from '../rooms/tags.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import { bySystem, type Deletion, type Trash } from '../store/trash.ts'
import { assertEngine, DeviceCreation } from './device-creation.ts'
import { DeviceFleet, type FleetPool } from './device-fleet.ts'
import { assistAddressOf, takesOldTls } from './device-options.ts'
import { type DeviceProbe, runProbe, simulatedProbe } from './device-probe.ts'
import { changedDevice, type DeviceChanges } from './device-record.ts'
import { DeviceHistory, deviceViewOf } from './device-view.ts'
import type { DevicesByRoom } from './devices-by-room.ts'
import { loginToTry } from './stored-login.ts'

export interface OutgoingUsersOptions {
  store: Store
  pool: FleetPool
  trash: Pick<Trash, 'moveToTrash'>
  licence: { expired(): boolean }
  settings: () => Settings
  logger: NodeLogger
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
  /** Probe of real devices; undefined: probes are simulated. */
  probe?: () => DeviceProbe | undefined
}

/**
 * Devices: external streams that the site joins to rooms, called outgoing users in the API (specification, section 2.3;
 * contract, section 4). For the API and the operator.
 */
export class OutgoingUsers {
  readonly #store: Store
  readonly #pool: OutgoingUsersOptions['pool']
  readonly #trash: OutgoingUsersOptions['trash']
  readonly #settings: () => Settings
  readonly #probe: () => DeviceProbe | undefined
  readonly creation: DeviceCreation
  readonly fleet: DeviceFleet
  readonly byRoom: DevicesByRoom
  readonly history: DeviceHistory

  constructor(options: OutgoingUsersOptions) {
    const { clock = Date.now } = options
    const fleet = new DeviceFleet({ ...options, clock })
    this.#store = options.store
    this.#pool = options.pool
    this.#trash = options.trash
    this.#settings = options.settings
    this.#probe = options.probe ?? (() => undefined)
    this.fleet = fleet
    this.byRoom = fleet.byRoom
    this.creation = new DeviceCreation({ ...options, clock, fleet })
    this.history = new DeviceHistory(fleet, this)
  }

  /**
   * Implements destroyOutgoingUser: resolves when the device has left its room and its record is deleted.
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
    assertEngine(this.#pool, 'destroyUnavailable')
    await this.remove(userId, deletion)
  }

  /**
   * Removes a device from its room, then moves it to the trash. If its node does not respond, or the store fails, the
   * device is kept and joins again.
   * @throws ApiError outgoingUserNotFound, nodeTimeout, storage
   */
  async remove(userId: string, deletion: Deletion = bySystem): Promise<void> {
    const { roomId } = this.#existing(userId)
    const reconnector = this.fleet.reconnector(userId)
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
   * Implements getOutgoingUsers: lists the devices of one room in order of creation; empty roomId: of all rooms.
   * @throws ApiError listUnavailable
   */
  list(roomId = ''): StoredDevice[] {
    assertEngine(this.#pool, 'listUnavailable')
    return this.#of(roomId)
  }

  /** Returns the devices of one room for the console, in order of creation; empty roomId: of all rooms. */
  views(roomId = ''): DeviceView[] {
    return this.#of(roomId).map((device) => this.#view(device))
  }

  /** Returns one device for the console; undefined: it does not exist. */
  view(userId: string): DeviceView | undefined {
    const device = this.#store.get('devices', userId)
    return device === undefined ? undefined : this.#view(device)
  }

  #view(device: StoredDevice): DeviceView {
    const topic = this.#store.get('rooms', device.roomId)?.topic ?? ''
    return deviceViewOf(device, topic, this.fleet.reconnector(device.userId))
  }

  /**
   * Changes or moves a device. The device joins again if its address, login, TLS option or room changed.
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
   * Starts the next attempt at once, even if the login was rejected too often.
   * @throws ApiError outgoingUserNotFound; RefusalError 'conflict' if the device is paused
   */
  retry(userId: string): void {
    if (this.#existing(userId).paused) throw new RefusalError(refusal('devicePaused'))
    this.fleet.reconnector(userId)?.join('operator')
  }

  /**
   * Probes a device without adding it. With the userId of an existing device, its stored login is used unless a login
   * is specified.
   * @throws ApiError parameter, also if the stored password would be sent to another host
   */
  async probe(camera: ProbedCamera): Promise<ProbeResult> {
    const address = parseDeviceAddress(camera.userAddress)
    const device = camera.userId === undefined ? undefined : this.#store.get('devices', camera.userId)
    const login = loginToTry(address, camera, device, this.#store)
    const probe = this.#probe()
    if (probe === undefined) return simulatedProbe
    const assistAddress = camera.assist_address ?? (device === undefined ? '' : assistAddressOf(device))
    const oldTls = camera.old_tls ?? (device !== undefined && takesOldTls(device))
    const { device_ms } = this.#settings().deadlines
    return runProbe(probe, { address, login, oldTls }, device_ms, assistAddress.trim() === '')
  }

  #of(roomId: string): StoredDevice[] {
    if (roomId === '') return [...this.#store.all('devices').values()]
    return Array.from(this.byRoom.of(roomId), (userId) => this.#store.get('devices', userId)).filter(
      (device) => device !== undefined,
    )
  }

  #existing(userId: string): StoredDevice {
    const device = this.#store.get('devices', userId)
    if (device === undefined) throw new ApiError('outgoingUserNotFound')
    return device
  }

  /**
   * Removes the device from its room. If its node is unreachable or rejects this, the device is removed when the node
   * is online again.
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
   * Changes a record durably, or deletes it if `change` returns undefined. Holds the locks of the old and the new room,
   * so that deleting a room deletes all its devices.
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
        // Another call moved the device meanwhile, so the held locks are those of its former room.
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
