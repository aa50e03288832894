import { createHash } from 'node:crypto'
import { cameraKey, type CameraSource, type DeviceLogin, parseDeviceAddress } from '../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import type { ControlEvent, ControlParams, Doer, OutgoingId } from '../../../shared/media/control.ts'
import { RemovalTable } from '../../../shared/media/removal-table.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import type { CameraPulls } from '../feeds/camera-pulls.ts'
import { Problem } from '../base/problem.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import { DeviceFailure } from './device-failure.ts'
import { silence } from './silence.ts'
import type { Member } from './member.ts'
import { Room } from './room.ts'
import type { RoomConfig } from './room-config.ts'

/** An outgoing user as the controller wants it pulled. */
export type RoomDevice = ControlParams<'add_device'>['device']

/** Somebody's place in a room. */
export interface Place {
  room: Room
  member: Member
}

/** Every room of the node, and the devices in them. */
export class MediaRooms {
  readonly #rooms = new Map<string, Room>()
  readonly #pulls: CameraPulls
  readonly #emit: (event: ControlEvent) => void
  readonly #log: Log
  /** Devices that are being taken in, by room and user: a later word about one ends the earlier attempt. */
  readonly #joining = new Map<string, AbortController>()
  /** Everybody in a room, by the digest of their session key. */
  readonly #sessions = new Map<string, Place>()
  /** Who was removed, here or on another node. */
  readonly removals = new RemovalTable()
  /** Room of each outgoing user, by its id. */
  readonly #outgoing = new Map<string, string>()
  #users = 0
  /** How long somebody who was removed is refused. */
  banMs: number
  /** What a device may take from the request to its first packet, in milliseconds. */
  joinMs: number

  constructor(
    pulls: CameraPulls,
    { banMs, joinMs }: Pick<MediaRooms, 'banMs' | 'joinMs'>,
    emit: (event: ControlEvent) => void,
    log: Log,
  ) {
    this.#pulls = pulls
    this.banMs = banMs
    this.joinMs = joinMs
    this.#emit = emit
    this.#log = log
  }

  get ids(): string[] {
    return [...this.#rooms.keys()]
  }

  /** Leaves out rooms with remote media. */
  get ownIds(): string[] {
    return this.ids.filter((roomId) => this.find(roomId)?.config.isRemote !== true)
  }

  /** Everybody in every room of its own, devices too. */
  get userCount(): number {
    return this.#users
  }

  /** The controller says which ids are those of outgoing users. */
  noteOutgoing({ userId, roomId }: OutgoingId): void {
    if (roomId === '') this.#outgoing.delete(userId)
    else this.#outgoing.set(userId, roomId)
  }

  all(): Iterable<Room> {
    return this.#rooms.values()
  }

  find(roomId: string): Room | undefined {
    return this.#rooms.get(roomId)
  }

  /** @throws Problem noRoom */
  get(roomId: string): Room {
    const room = this.#rooms.get(roomId)
    if (room === undefined) throw new Problem('noRoom')
    return room
  }

  /** One whose media goes another way from now on begins anew: its people come again. */
  open(config: RoomConfig): void {
    const { isRemote } = config
    this.close(config.roomId, 'restarting', !isRemote)
    const room = this.#rooms.get(config.roomId)
    if (room === undefined) this.#rooms.set(config.roomId, this.#make(config))
    else room.configure(config)
  }

  #make(config: RoomConfig): Room {
    const tellIn = (roomId: string, { user, ticket }: Member): void =>
      this.#emit(config.isRemote ? { type: 'carriedEntered', roomId, user, ticket } : { type: 'joined', roomId, user })
    const made: Room = new Room(config, {
      joined: (roomId, member) => {
        this.#sessions.set(sha256(member.session), { room: made, member })
        if (!config.isRemote) this.#users += 1
        tellIn(roomId, member)
      },
      replaced: (roomId, member, differs) => {
        this.#sessions.set(sha256(member.session), { room: made, member })
        if (differs) tellIn(roomId, member)
      },
      changed: (roomId, user) =>
        this.#emit(
          config.isRemote ? { type: 'carriedEntered', roomId, user, ticket: '' } : { type: 'joined', roomId, user },
        ),
      left: (roomId, userId, reason) => {
        // The node of the media reports who is in the room.
        if (config.isRemote)
          return this.#emit({
            type: 'carriedLeft',
            roomId,
            userId,
            kicked: reason === 'kicked',
            ended: reason === 'ended',
            restarting: reason === 'restarting',
          })
        this.#users -= 1
        this.#emit({ type: 'left', roomId, userId })
      },
      ended: (session) => this.#sessions.delete(sha256(session)),
      acted: (roomId, by, act) => this.#emit({ type: 'hostActed', roomId, by, ...act }),
      muted: (roomId, userId, act) => this.#emit({ type: 'carriedMuted', roomId, userId, ...act }),
      failed: (error) => this.#beginAnew(made, error),
      isOutgoing: (userId) => this.#outgoing.get(userId) === config.roomId,
    })
    return made
  }

  /** What nobody foresaw happened in a room: everybody is out and may come again, to a new one in its place. The controller need not open it again. */
  #beginAnew(room: Room, error: unknown): void {
    this.#log.error('a room failed: it begins anew', wholeText(error))
    const { config } = room
    if (this.#rooms.get(config.roomId) !== room) return
    this.#rooms.set(config.roomId, this.#make(config))
    this.#endJoining(config.roomId)
    room.close('restarting')
  }

  /** Devices that are being taken into this room are not. */
  #endJoining(roomId: string): void {
    for (const [key, attempt] of this.#joining) {
      if (key.startsWith(joiningKey(roomId, ''))) attempt.abort(new DeviceFailure('nodeFailed', 'the room was closed'))
    }
  }

  /** @param isRemote only where its media is another server's, or only where it is not; left out: either */
  close(roomId: string, reason: 'closed' | 'restarting', isRemote?: boolean): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined || (isRemote !== undefined && room.config.isRemote !== isRemote)) return
    this.#rooms.delete(roomId)
    this.#endJoining(roomId)
    room.close(reason)
  }

  /** Their connection has ended, they are refused for a while and their link is over; a person without a proven id is refused by the node of the remote media. @param by the host who wants it; left out: the controller. Returns false when they are not in. */
  kick(roomId: string, userId: string, by?: Doer): boolean {
    const room = this.#rooms.get(roomId)
    const member = room?.members.get(userId)
    if (room === undefined || member === undefined) return false
    if (member.unproven) this.#tellRemoval(roomId, member, by)
    else if (!member.user.device) this.#ban(roomId, member, by)
    return room.remove(userId, 'kicked')
  }

  /** Removes somebody from a room with remote media, as its node reported. */
  remoteOut(roomId: string, userId: string, reason: 'kicked' | 'restarting'): void {
    this.#rooms.get(roomId)?.remove(userId, reason, true)
  }

  /** A host who came another way silences somebody who came through here. */
  remoteMuted(roomId: string, userId: string, kind: 'audio' | 'video', by: string): void {
    const room = this.#rooms.get(roomId)
    const member = room?.members.get(userId)
    if (room !== undefined && member !== undefined && !member.isRemote) silence(room, member, kind, by)
  }

  /** Whose session key this is, for the resumption of signalling and for WHIP and WHEP. O(1), and no comparison of secrets that takes longer the nearer a guess is. */
  bySession(session: string): Place | undefined {
    return session.length === sessionLength ? this.#sessions.get(sha256(session)) : undefined
  }

  /**
   * Takes a device in; resolves when its media flows in the room. The same one again changes nothing.
   * @throws DeviceFailure; the signal's reason. Either way nothing is left behind.
   */
  async addDevice(roomId: string, device: RoomDevice, signal: AbortSignal): Promise<void> {
    const room = this.#admit(roomId, device)
    const camera = sourceOf(device.address, device.login)
    const key = cameraKey(camera)
    if (room.members.get(device.userId)?.device?.key === key) return
    const attemptKey = joiningKey(roomId, device.userId)
    this.#joining.get(attemptKey)?.abort(new DeviceFailure('closed', 'a later attempt took its place'))
    const attempt = new AbortController()
    this.#joining.set(attemptKey, attempt)
    let lost: RtspError | undefined
    let inRoom = false
    const giveUp = (): void => attempt.abort(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    const timer = setTimeout(() => attempt.abort(new DeviceFailure('timeout', 'no media came in time')), this.joinMs)
    try {
      const lease = await this.#pulls.acquire(camera, attempt.signal, (error) => {
        lost = error
        if (inRoom) this.#lost(room, device.userId, error)
      })
      try {
        if (lost !== undefined) throw lost
        const current = this.#admit(roomId, device)
        if (current !== room) throw new DeviceFailure('nodeFailed', 'the room was closed')
        room.remove(device.userId, 'left')
        room.assertStream(lease.feed.video !== undefined, lease.feed.audio !== undefined)
        room.addDevice(device.userId, device.userName, {
          key,
          lease,
          second: device.assistAddress === '' ? undefined : sourceOf(device.assistAddress, device.login),
        })
        inRoom = true
      } catch (error) {
        lease.release()
        throw error
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : deviceFailure(error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      if (this.#joining.get(attemptKey) === attempt) this.#joining.delete(attemptKey)
    }
  }

  removeDevice(roomId: string, userId: string): void {
    this.#joining.get(joiningKey(roomId, userId))?.abort(new DeviceFailure('closed', 'the device was removed'))
    const room = this.#rooms.get(roomId)
    room?.forgetLost(userId)
    if (room?.members.get(userId)?.device !== undefined) room.remove(userId, 'left')
  }

  /** The node ends: people come again when it, or another one, is there. */
  closeAll(): void {
    for (const roomId of this.ids) this.close(roomId, 'restarting')
  }

  /** @throws DeviceFailure */
  #admit(roomId: string, device: RoomDevice): Room {
    const room = this.#rooms.get(roomId)
    if (room === undefined) throw new DeviceFailure('nodeFailed', 'the room is not open on this node')
    const present = room.members.get(device.userId)
    if (present !== undefined && present.device === undefined) {
      throw new DeviceFailure('nodeFailed', 'a person of this userId is in the room')
    }
    if (present === undefined) asDevice(() => room.assertRoom({ wasIn: room.lost.has(device.userId) }))
    return room
  }

  #ban(roomId: string, { user: { userId, userName }, tokenId = '' }: Member, by: Doer | undefined): void {
    const at = Date.now()
    const removal = { roomId, userId, tokenId, at, until: at + this.banMs }
    this.removals.add(removal)
    this.#emit({ type: 'removed', ...removal, userName, by })
  }

  #tellRemoval(roomId: string, { user: { userId, userName } }: Member, by: Doer | undefined): void {
    if (by !== undefined)
      this.#emit({ type: 'hostActed', roomId, act: 'removed', by, who: { userId, userName }, count: 1 })
  }

  #lost(room: Room, userId: string, error: RtspError): void {
    if (!room.remove(userId, 'lost')) return
    this.#users -= 1
    const kind: DeviceErrorKind = error.kind
    this.#emit({ type: 'deviceLost', roomId: room.config.roomId, userId, kind, detail: error.message })
  }
}

/** Characters of 24 bytes in base64url. */
const sessionLength = 32

function joiningKey(roomId: string, userId: string): string {
  return `${JSON.stringify(roomId)}${userId}`
}

function asDevice<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw deviceFailure(error)
  }
}

function deviceFailure(error: unknown): unknown {
  if (error instanceof RtspError) return new DeviceFailure(error.kind, error.message, { cause: error })
  if (!(error instanceof Problem)) return error
  return new DeviceFailure(error.refusal === 'locked' ? 'roomLocked' : 'roomFull', error.message)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function sourceOf(address: string, login: DeviceLogin | undefined): CameraSource {
  return { address: parseDeviceAddress(address), login }
}
