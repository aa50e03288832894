import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { isOpenToNumber } from '../../shared/room-entry.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import { isShut } from '../schedule/room-hours.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeUser } from '../nodes/port/media-node-port.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import { randomInteger } from '../store/system/system.ts'
import { bySystem, type Deletion, type Trash } from '../store/trash.ts'
import { atMost, notifyNode } from './background.ts'
import { checkedSchedule, endNow, openNow, shutError } from './scheduled-rooms.ts'
import {
  roomEntryOf,
  lockOf,
  newRecord,
  scheduledFrom,
  type NewRoom,
  type RoomChanges,
  sameRecord,
} from './room-record.ts'
import { SiteLimits } from './site-limits.ts'
import { withTags } from './tags.ts'

/** Parts of the node pool used by `Rooms`. */
export type RoomPool = Pick<NodePool, 'events' | 'presence' | 'nodes' | 'callerNodes' | 'calls' | 'relocation'>

/** Methods for devices used by `Rooms`. */
export interface RoomDevices {
  /** `of` returns the userIds of the room's devices, in order of creation. */
  readonly byRoom: { of(roomId: string): ReadonlySet<string> }
  /**
   * Removes a device from its room and moves its record to the trash.
   * @throws ApiError outgoingUserNotFound, nodeTimeout, storage
   */
  remove(userId: string, deletion: Deletion): Promise<void>
}

export interface RoomsOptions {
  store: Store
  pool: RoomPool
  devices: RoomDevices
  trash: Pick<Trash, 'moveToTrash' | 'index'>
  capabilities: Pick<Capabilities, 'endJoinLinks'>
  licence: { expired(): boolean }
  settings: () => Settings
  logger: NodeLogger
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
}

/**
 * room_status on the wire (contract, section 3): 0 scheduled, 1 open, 2 locked, 3 closed. A room with a schedule is
 * open during its meetings, and scheduled otherwise.
 */
export type RoomStatusNumber = 0 | 1 | 2 | 3

/**
 * Maximum time that a call waits for a room's node to apply a change, in milliseconds; after that the call returns, and
 * the change continues in the background.
 */
const nodePatience = 1_000

/**
 * Life cycle of rooms (contract, section 3). Checks are made in the order of the contract: permission and licence,
 * existence of the room, closed room, conditions of the operation.
 */
export class Rooms {
  readonly #store: Store
  readonly #pool: RoomPool
  readonly #devices: RoomDevices
  readonly #trash: RoomsOptions['trash']
  readonly #capabilities: RoomsOptions['capabilities']
  readonly #limits: SiteLimits
  readonly #settings: () => Settings
  readonly #logger: NodeLogger
  readonly #clock: () => number

  constructor(options: RoomsOptions) {
    this.#store = options.store
    this.#pool = options.pool
    this.#devices = options.devices
    this.#trash = options.trash
    this.#capabilities = options.capabilities
    this.#limits = new SiteLimits(options)
    this.#settings = options.settings
    this.#logger = options.logger
    this.#clock = options.clock ?? Date.now
  }

  /**
   * Creates a room; resolves when it is stored.
   * @param createdBy access_key; empty: the operator
   * @throws ApiError noP2pPermission, licenceExpired, licenceExceeded, parameter (room_extend_id is in use, or the
   * schedule has ended), storage
   */
  async create(given: NewRoom, createdBy: string): Promise<StoredRoom> {
    const wanted = { ...given, schedule: given.schedule && checkedSchedule(given.schedule, this.#clock()) }
    this.#limits.checkMode(wanted.room_mode, createdBy)
    this.#limits.checkLicence()
    this.#limits.checkRooms()
    const roomId = wanted.room_extend_id
    if (roomId !== undefined) {
      const room = await this.#insert(roomId, wanted, createdBy)
      if (room !== undefined) return room
      throw new ApiError('parameter', {
        field: 'room_extend_id',
        refusal: refusal('roomExists'),
      })
    }
    for (;;) {
      const room = await this.#insert(this.#newNumber(), wanted, createdBy)
      if (room !== undefined) return room
    }
  }

  /** Returns the record of a room. O(1). @throws ApiError roomNotFound */
  get(roomId: string): StoredRoom {
    const room = this.#store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    return room
  }

  /** Returns the status of a room. O(1). */
  status(room: StoredRoom): RoomStatusNumber {
    if (room.closed) return 3
    if (isShut(room, this.#clock())) return 0
    if (room.locked) return 2
    if (room.schedule !== undefined) return 1
    return this.#pool.presence.occupied(room.room_id) ? 1 : 0
  }

  /** Whether the number of a room is enough to join it while it is neither locked nor closed. O(1). */
  openToNumber(room: StoredRoom): boolean {
    return isOpenToNumber(room.entry_by_number, this.#settings().media.open_rooms)
  }

  /** Returns the host password in plain text; empty: none. */
  hostPassword(room: StoredRoom): string {
    return room.host_password_sealed === ''
      ? ''
      : this.#store.unseal(room.host_password_sealed, sealedPlaceOf('rooms', room.room_id))
  }

  /**
   * Changes the specified fields of a room.
   * @param changedBy access_key; empty: the operator
   * @throws ApiError noP2pPermission, roomNotFound, roomClosed, parameter (the schedule has ended), storage
   */
  async update(roomId: string, changes: RoomChanges, changedBy: string): Promise<StoredRoom> {
    if (changes.room_mode !== undefined) this.#limits.checkMode(changes.room_mode, changedBy)
    const schedule = changes.schedule && checkedSchedule(changes.schedule, this.#clock())
    return await this.#change(roomId, (room) => {
      if (room.closed) throw new ApiError('roomClosed')
      return {
        ...scheduledFrom(room, changes.schedule === null ? null : schedule),
        topic: changes.topic ?? room.topic,
        host_password_sealed: this.#sealedPassword(roomId, changes.host_password, room),
        max_video: changes.max_video ?? room.max_video,
        max_audio: changes.max_audio ?? room.max_audio,
        attendee_max: changes.attendee_max ?? room.attendee_max,
        room_mode: changes.room_mode ?? room.room_mode,
        ...roomEntryOf(changes),
      }
    })
  }

  /**
   * Changes the tags of a room, even if it is closed.
   * @throws ApiError roomNotFound, parameter (too many for one room), storage
   */
  changeTags(roomId: string, change: (tags: readonly string[]) => readonly string[]): Promise<StoredRoom> {
    return this.#change(roomId, (room) => withTags(room, change(room.tags ?? [])), false)
  }

  /**
   * Moves the room and its devices to the trash, in one transaction. The pool then closes the room on its node in the
   * background.
   * @throws ApiError roomNotFound, storage
   */
  async delete(roomId: string, deletion: Deletion = bySystem): Promise<void> {
    this.get(roomId)
    await this.#store.transact([lockOf(roomId)], (transaction) => {
      const record = this.get(roomId)
      const userIds = [...this.#devices.byRoom.of(roomId)]
      const devices = userIds.flatMap((userId) => this.#store.get('devices', userId) ?? [])
      for (const userId of userIds) transaction.delete('devices', userId)
      transaction.delete('rooms', roomId)
      this.#trash.moveToTrash(transaction, { kind: 'rooms', record, devices }, deletion)
    })
  }

  /** Prevents new people from joining. @throws ApiError roomNotFound, roomClosed, storage */
  lock(roomId: string): Promise<StoredRoom> {
    return this.#setLocked(roomId, true)
  }

  /** Allows people to join again. @throws ApiError roomNotFound, roomClosed, storage */
  unlock(roomId: string): Promise<StoredRoom> {
    return this.#setLocked(roomId, false)
  }

  /**
   * Removes all participants, and prevents joining until the room is reopened. Its devices stay stored, and join again
   * when the room is reopened.
   * @throws ApiError roomNotFound, storage
   */
  async close(roomId: string): Promise<StoredRoom> {
    const room = await this.#change(roomId, (before) => ({ ...before, closed: true }), false)
    const emptied = this.#pool.calls.close(roomId)
    // The pool retries if a node does not respond.
    emptied.catch((error: unknown) => this.#logger.warn({ err: error }, 'a closed room was not emptied at once'))
    await atMost(nodePatience, emptied)
    return room
  }

  /** Allows people to join again, even if the room was locked before. @throws ApiError roomNotFound, storage */
  reopen(roomId: string): Promise<StoredRoom> {
    return this.#change(roomId, (room) => (room.closed ? { ...room, closed: false, locked: false } : room), false)
  }

  /**
   * Opens a scheduled room for its next meeting before its start.
   * @throws ApiError roomNotFound, roomClosed, parameter, storage
   */
  openNow(roomId: string): Promise<StoredRoom> {
    return openNow(this.#store, roomId, this.#clock())
  }

  /** Ends the meeting of a scheduled room early. @throws ApiError roomNotFound, parameter, storage */
  endNow(roomId: string): Promise<StoredRoom> {
    return endNow(this.#store, roomId, this.#clock())
  }

  /**
   * Checks the licence and the user limit, which apply to entering any room. @throws ApiError licenceExpired,
   * licenceExceeded
   */
  checkSite(): void {
    this.#limits.checkLicence()
    this.#limits.checkUsers(0)
  }

  /**
   * Returns the name of the MCU for the room; the first call assigns one.
   * @throws ApiError licenceExpired, licenceExceeded, roomNotFound, roomClosed, noNode, nodeTimeout, storage
   */
  async assign(
    roomId: string,
    { idcCode }: { idcCode?: string | undefined } = {},
    signal?: AbortSignal,
  ): Promise<string> {
    this.checkSite()
    this.#roomNotShut(roomId)
    return await this.#pool.callerNodes.nodeFor(roomId, { idcCode }, signal)
  }

  /**
   * Returns `host:port` of the MCU for the room; the first call assigns one.
   * @throws ApiError licenceExpired, licenceExceeded, roomNotFound, roomClosed, noNode, nodeTimeout, storage
   */
  async mcuAddress(
    roomId: string,
    request: { ipTag?: string | undefined; idcCode?: string | undefined } = {},
    signal?: AbortSignal,
  ): Promise<string> {
    const node = await this.assign(roomId, request, signal)
    try {
      return this.#pool.nodes.address(node, request.ipTag)
    } catch (error) {
      // The MCU was removed after it was assigned.
      if (error instanceof ApiError && error.code === 'nodeOffline') throw new ApiError('noNode', { cause: error })
      throw error
    }
  }

  /**
   * Requests the users of the room from its nodes. If the room's own node is unavailable, returns the users last
   * reported. Sorted by the time of joining.
   * @throws ApiError roomNotFound, nodeTimeout
   */
  async users(roomId: string, signal?: AbortSignal): Promise<readonly NodeUser[]> {
    const room = this.get(roomId)
    if (room.node === '' || isShut(room, this.#clock())) return []
    await this.#pool.nodes.asked(roomId)
    if (!this.#pool.nodes.onOnlineNode(roomId)) return this.named(this.#pool.presence.usersOf(roomId))
    try {
      return this.named(await this.#pool.calls.users(roomId, signal))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === 'nodeTimeout') throw error
      // The node was lost or rejected the request meanwhile: returns the users last reported.
      return this.named(this.#pool.presence.usersOf(roomId))
    }
  }

  /** Replaces the names of devices by their current names: nodes report the names with which devices joined. */
  named(users: readonly NodeUser[]): readonly NodeUser[] {
    return users.map((user) => {
      if (!user.device) return user
      const userName = this.#store.get('devices', user.userId)?.userName ?? user.userName
      return userName === user.userName ? user : { ...user, userName }
    })
  }

  /**
   * Removes a user from a room; a device is removed as by destroyOutgoingUser.
   * @throws ApiError roomNotFound, roomClosed, neverAssigned, nodeOffline, userNotOnline, nodeTimeout, storage
   */
  async kick(roomId: string, userId: string, deletion: Deletion, signal?: AbortSignal): Promise<void> {
    const room = this.#roomNotShut(roomId)
    if (room.node === '') throw new ApiError('neverAssigned')
    await this.#pool.nodes.asked(roomId)
    await this.#pool.relocation.moved(roomId)
    if (!this.#pool.nodes.onOnlineNode(roomId)) throw new ApiError('nodeOffline')
    if (this.#devices.byRoom.of(roomId).has(userId)) {
      const present = this.#pool.presence.user(roomId, userId)
      if (present === undefined) throw new ApiError('userNotOnline')
      if (present.device) return this.#removeDevice(userId, deletion)
    }
    if (!(await this.#pool.calls.kick(roomId, userId, signal))) throw new ApiError('userNotOnline')
  }

  async #removeDevice(userId: string, deletion: Deletion): Promise<void> {
    try {
      await this.#devices.remove(userId, deletion)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'outgoingUserNotFound') throw new ApiError('userNotOnline')
      throw error
    }
  }

  /** @throws ApiError roomNotFound; roomClosed outside the room's schedule, or if an operator closed it */
  #roomNotShut(roomId: string): StoredRoom {
    const room = this.get(roomId)
    const now = this.#clock()
    if (isShut(room, now)) throw shutError(room, now)
    return room
  }

  #setLocked(roomId: string, locked: boolean): Promise<StoredRoom> {
    return this.#change(roomId, (room) => {
      if (room.closed) throw new ApiError('roomClosed')
      return room.locked === locked ? room : { ...room, locked }
    })
  }

  /**
   * Stores a change of the record. With `tell`, also sends the change to the node, and waits at most `nodePatience` for
   * it.
   */
  async #change(roomId: string, change: (room: StoredRoom) => StoredRoom, tell = true): Promise<StoredRoom> {
    this.get(roomId)
    let changed = false
    const room = await this.#store.transact([lockOf(roomId)], (transaction: Transaction) => {
      const before = this.get(roomId)
      const after = change(before)
      changed = !sameRecord(before, after)
      if (!changed) return before
      transaction.put('rooms', roomId, after)
      return after
    })
    if (changed && tell && this.#pool.nodes.onOnlineNode(roomId)) {
      await atMost(
        nodePatience,
        notifyNode(() => this.#pool.calls.update(roomId), `room ${room.id} changed`, this.#logger),
      )
    }
    return room
  }

  /** Stores a new room; returns undefined if the room_id is in use. */
  #insert(roomId: string, wanted: NewRoom, createdBy: string): Promise<StoredRoom | undefined> {
    const defaults = this.#settings().room_defaults
    return this.#store.transact([lockOf(roomId)], (transaction) => {
      if (this.#store.get('rooms', roomId) !== undefined) return undefined
      const room = newRecord(wanted, {
        id: this.#store.nextRoomNumber(),
        roomId,
        defaults,
        sealedPassword: this.#sealedPassword(roomId, wanted.host_password, undefined),
        createdBy,
        at: this.#clock(),
      })
      transaction.put('rooms', roomId, room)
      this.#capabilities.endJoinLinks(transaction, roomId)
      return room
    })
  }

  /** Returns the sealed password; reuses the existing text if the password does not change. */
  #sealedPassword(roomId: string, password: string | undefined, room: StoredRoom | undefined): string {
    const sealed = room?.host_password_sealed ?? ''
    if (password === undefined) return sealed
    if (password === '') return ''
    return room !== undefined && this.hostPassword(room) === password
      ? sealed
      : this.#store.seal(password, sealedPlaceOf('rooms', roomId))
  }

  /**
   * Generates an unused room number with nine digits, short enough to be read aloud. Numbers of rooms in the trash are
   * not reused.
   */
  #newNumber(): string {
    for (;;) {
      const roomId = String(randomInteger(100_000_000, 999_999_999))
      if (!this.#trash.index.holdsRoom(roomId)) return roomId
    }
  }
}
