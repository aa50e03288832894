import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { Deadline } from '../../shared/deadline.ts'
import type { deviceInput } from '../../shared/domain/devices.ts'
import { limits } from '../../shared/limits.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { lockOf } from '../rooms/room-record.ts'
import { shutError } from '../rooms/scheduled-rooms.ts'
import { SiteLimits } from '../rooms/site-limits.ts'
import { isShut } from '../schedule/room-hours.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { isOutcomeUnknown } from '../store/storage.ts'
import type { DeviceFleet, DeviceFleetOptions, FleetPool } from './device-fleet.ts'
import { joinDevice, joinErrorOf } from './device-joining.ts'
import { newDevice, type NewDevice, toStoredDevice, type UnstoredDevice } from './device-record.ts'

export interface DeviceCreationOptions extends Omit<DeviceFleetOptions, 'logger'> {
  pool: FleetPool
  licence: { expired(): boolean }
  fleet: DeviceFleet
}

/** Device as added by the operator. */
export type ConsoleDevice = z.output<typeof deviceInput>

/** Creates devices, for the API and the operator. Their userIds are reserved in the fleet during the creation. */
export class DeviceCreation {
  readonly #store: Store
  readonly #pool: FleetPool
  readonly #fleet: DeviceFleet
  readonly #limits: SiteLimits
  readonly #settings: () => Settings
  readonly #clock: () => number

  constructor(options: DeviceCreationOptions) {
    this.#store = options.store
    this.#pool = options.pool
    this.#fleet = options.fleet
    this.#limits = new SiteLimits(options)
    this.#settings = options.settings
    this.#clock = options.clock
  }

  /**
   * Implements createOutgoingUser: resolves when the device has joined its room and is stored. On failure, the
   * device is neither stored nor in its room.
   * @throws ApiError parameter, roomNotFound, roomClosed, userExists, createUnavailable, licenceExpired,
   * licenceExceeded, joinFailed, joinTimeout, noNode, nodeOffline, nodeTimeout, storage
   */
  async create(input: NewDevice): Promise<StoredDevice> {
    const device = newDevice(input, this.#clock())
    return await this.#reserved(device, false, async () => {
      assertEngine(this.#pool, 'createUnavailable')
      this.#checkRoomFor()
      await this.#join(device)
      return await this.#insert(device, true)
    })
  }

  /**
   * Adds a device for the operator: stores it, and joins it in the background.
   * @throws ApiError as `create` does, except for the join
   */
  async add(input: ConsoleDevice): Promise<StoredDevice> {
    const device = newDevice(this.#fromConsole(input), this.#clock())
    return await this.#reserved(device, true, async () => {
      this.#checkRoomFor()
      return await this.#insert(device, false)
    })
  }

  /** Adds a device for the operator, and resolves when the device has joined. @throws ApiError as `create` does */
  addJoined(input: ConsoleDevice): Promise<StoredDevice> {
    return this.create(this.#fromConsole(input))
  }

  #fromConsole(input: ConsoleDevice): NewDevice {
    const { login_name, login_password, assist_address, old_tls, userId = this.#unusedId(), ...rest } = input
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
   * Creates a device while its userId is reserved. If the outcome is unknown, the userId stays reserved and the device
   * stays in its room until the outcome is known.
   */
  async #reserved(
    { record }: UnstoredDevice,
    closedToo: boolean,
    create: () => Promise<StoredDevice>,
  ): Promise<StoredDevice> {
    const release = this.#reserve(record, closedToo)
    let outcome: Promise<void> | undefined
    try {
      return await create()
    } catch (error) {
      if (isOutcomeUnknown(error)) outcome = this.#fleet.expelUnlessStored(record.roomId, record.userId)
      throw error
    } finally {
      if (outcome === undefined) release()
      else mustNotFail(outcome.finally(release))
    }
  }

  /** Checks room and userId, and reserves the userId. @throws ApiError roomNotFound, roomClosed, userExists */
  #reserve({ roomId, userId }: UnstoredDevice['record'], closedToo: boolean): () => void {
    const room = this.#store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    if (!closedToo && isShut(room)) throw shutError(room)
    const isUsed =
      this.#store.get('devices', userId) !== undefined || this.#pool.presence.user(roomId, userId)?.device === false
    const release = isUsed ? undefined : this.#fleet.reserve(userId, roomId)
    if (release === undefined) throw new ApiError('userExists')
    return release
  }

  /**
   * Checks the licence and the limits of the site. The caller's own reservation does not count as a user.
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

  async #join({ record, target }: UnstoredDevice): Promise<void> {
    try {
      await joinDevice(record.roomId, target, this.#pool, Deadline.in(this.#settings().deadlines.device_ms))
    } catch (error) {
      // The node went offline during the join, and no other node is available.
      const nodeGone = error instanceof ApiError && (error.code === 'nodeOffline' || error.code === 'noNode')
      if (nodeGone) assertEngine(this.#pool, 'createUnavailable')
      throw joinErrorOf(error)
    }
  }

  /**
   * Stores a new device and returns its record. If a device that has joined cannot be stored, removes it from its room.
   * @throws ApiError roomNotFound, roomClosed, userExists, storage
   */
  async #insert(device: UnstoredDevice, joined: boolean): Promise<StoredDevice> {
    const { roomId, userId } = device.record
    try {
      const stored = toStoredDevice(device, this.#store)
      await this.#store.transact([lockOf(roomId), `devices/${userId}`], (transaction) => {
        const room = this.#store.get('rooms', roomId)
        if (room === undefined) throw new ApiError('roomNotFound')
        if (joined && isShut(room)) throw shutError(room)
        if (this.#store.get('devices', userId) !== undefined) throw new ApiError('userExists')
        transaction.put('devices', userId, stored)
      })
      return stored
    } catch (error) {
      if (joined && !isOutcomeUnknown(error)) this.#fleet.expel(roomId, userId)
      throw error
    }
  }
}

/** Checks that a media node can serve requests. @throws ApiError the given error, nodeTimeout */
export function assertEngine(
  pool: Pick<FleetPool, 'nodes'>,
  error: 'createUnavailable' | 'destroyUnavailable' | 'listUnavailable',
): void {
  const engine = pool.nodes.engine()
  if (engine === 'stopped') throw new ApiError(error)
  if (engine === 'unresponsive') throw new ApiError('nodeTimeout')
}
