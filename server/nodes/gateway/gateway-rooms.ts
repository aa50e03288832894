import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import { MediaRefusal, type RoomMediaMethod } from '../../../shared/media/room-media.ts'
import { isShut } from '../../schedule/room-hours.ts'
import type { ControlParams } from '../../../shared/media/control.ts'
import type { ReportParams } from '../../../shared/media/controller-methods.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change, Store } from '../../store/store.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { GatewayListener } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { toNodeRoom } from '../pool/placement/room-placement.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import { GatewayPeople, GatewayRequests, remoteRoom, type RequestGateway } from './gateway-programs.ts'
import type {
  RemoteFeed,
  RoomMedia,
  RoomMediaEvent,
  RoomMediaParams,
  RoomMediaResult,
  RoomPeople,
} from '../port/room-media.ts'

export interface GatewayRoomsOptions {
  store: Pick<Store, 'get' | 'unseal'>
  /** Media of the rooms whose page is served here. */
  media: RoomMedia & RoomPeople
  /** Returns whether the media of rooms on this node is remote. */
  isRemote: (node: string) => boolean
  /** Returns the users of a room, as reported by its nodes. */
  usersOf: (roomId: string) => readonly NodeUser[]
  request: RequestGateway
  /** Returns whether a user's video has a smaller layer or a substream. */
  hasSmall: (roomId: string, userId: string) => boolean
  /** Removes a user who did not enter through the room page. */
  kick: (roomId: string, userId: string) => Promise<unknown>
  /** Removes a user who did not enter through the room page, and who may rejoin at once. */
  dismiss: (roomId: string, userId: string, signal: AbortSignal) => Promise<unknown>
  /** Returns whether the id of a participant is verified. */
  isProven: (roomId: string, userId: string) => boolean
  /** Returns whether the controller recently removed this user. */
  wasKicked: (roomId: string, userId: string) => boolean
  /** Time in which a user whose program ended may return, in milliseconds. */
  resumeMs: () => number
  logger: NodeLogger
}

/** Timeout of a call on remote media, in milliseconds; shorter than the program's own timeout. */
const requestTimeoutMs = 5_000

/** A room that is open at a program. */
interface GatewayRoom {
  /** Whether an update of its people and streams is already scheduled. */
  updating: boolean
}

/**
 * Signalling gateway: rooms whose people enter through the room page of an embedded program while their media is on
 * another node. A program opens such a room for its first visitor. The program then receives the room's configuration,
 * people and streams. Its media calls are passed to the nodes of the room.
 */
export class GatewayRooms implements GatewayListener {
  readonly #options: GatewayRoomsOptions
  /** Open rooms by program and room. */
  readonly #gateways = new Map<string, Map<string, GatewayRoom>>()
  readonly #people = new GatewayPeople()
  /** Program of each session of remote media. */
  readonly #sessions = new Map<string, string>()
  readonly #requests: GatewayRequests
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: GatewayRoomsOptions) {
    this.#options = options
    this.#requests = new GatewayRequests(options.request, options.logger)
  }

  isRemote(node: string): boolean {
    return this.#options.isRemote(node)
  }

  /**
   * Opens a room at a program.
   * @throws the error of the request
   */
  async open(gateway: string, room: StoredRoom): Promise<void> {
    const rooms = this.#gateways.get(gateway) ?? new Map<string, GatewayRoom>()
    this.#gateways.set(gateway, rooms)
    const opened = this.#requests.send(gateway, 'open_room', this.#config(room))
    rooms.set(room.room_id, { updating: false })
    this.#updateSoon(room.room_id)
    await opened
  }

  /**
   * Returns the streams of one room, or the known streams of all open rooms. If a room cannot be queried, returns its
   * last known streams.
   */
  async streamsOf(roomId: string | undefined, signal: AbortSignal): Promise<StreamStats[]> {
    if (roomId === undefined) {
      const known = new Set([...this.#gateways.values()].flatMap((rooms) => [...rooms.keys()]))
      return [...known].flatMap((each) => this.#statsOf(each))
    }
    try {
      await this.#options.media.look(roomId, signal)
    } catch (error) {
      this.#options.logger.debug({ err: error, room: roomId }, 'a room could not be inspected')
    }
    return this.#statsOf(roomId)
  }

  #statsOf(roomId: string): StreamStats[] {
    return this.#options.media.feedsOf(roomId).map((feed) => remoteStats(roomId, feed))
  }

  onMediaEvent(event: RoomMediaEvent): void {
    if (event.type === 'feeds') return this.#updateSoon(event.roomId)
    if (event.type === 'over') {
      const gateway = this.#sessions.get(event.session)
      this.#sessions.delete(event.session)
      if (gateway !== undefined) this.#requests.notify(gateway, 'end_remote_media', { session: event.session })
      return
    }
    const { roomId, userId, error } = event
    const gateway = this.#forget(roomId, userId)
    if (gateway === undefined) return
    const kicked = this.#options.wasKicked(roomId, userId)
    if (!kicked) this.#options.logger.info({ room: roomId, user: userId, err: error }, 'participant left')
    this.#requests.notify(gateway, 'remove_remote_user', { roomId, userId, reason: kicked ? 'kicked' : 'restarting' })
  }

  onPoolEvent(event: PoolEvent): void {
    if (event.type !== 'joined' && event.type !== 'left' && event.type !== 'deviceLost') return
    const { roomId } = event
    this.#people.reported(roomId, event.type === 'deviceLost' ? event.userId : event.user.userId)
    this.#updateSoon(roomId)
  }

  follow(changes: readonly Change[]): void {
    for (const change of changes) if (change.collection === 'rooms') this.#follow(change.key, change.value)
  }

  /** Handles the restart of a program, which then has no rooms. Its people may return within `resumeMs`. */
  restarted(gateway: string): void {
    this.#gateways.delete(gateway)
    this.#awaitBack(this.#people.through(gateway))
  }

  /** Waits for people without a program to return, and then removes them from their rooms. */
  #awaitBack(away: readonly { roomId: string; userId: string }[]): void {
    if (away.length === 0) return
    for (const { roomId, userId } of away) this.#people.forget(roomId, userId, false)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      for (const { roomId, userId } of away)
        if (this.#people.gatewayOf(roomId, userId) === undefined) this.#leave(roomId, userId)
    }, this.#options.resumeMs())
    timer.unref()
    this.#timers.add(timer)
  }

  /** Stops all timers, and drops all rooms. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#gateways.clear()
  }

  #follow(roomId: string, room: StoredRoom | undefined): void {
    for (const [gateway, rooms] of this.#gateways) {
      if (!rooms.has(roomId)) continue
      // If both nodes have remote media, the media layer moves the people.
      const moves = room !== undefined && !isShut(room) && room.node !== '' && !this.isRemote(room.node)
      if (room === undefined || isShut(room) || moves) {
        rooms.delete(roomId)
        this.#requests.notify(gateway, 'close_room', { roomId, moves, remote: true })
      } else this.#requests.notify(gateway, 'open_room', this.#config(room))
    }
  }

  #config(room: StoredRoom): ControlParams<'open_room'> {
    return { ...toNodeRoom(room, this.#options.store), remote: true }
  }

  entered(gateway: string, { roomId, user, ticket }: ReportParams<'remoteEntered'>): void {
    const { userId, userName, role, byNumber, hand } = user
    this.#people.entered(roomId, userId, gateway)
    this.#options.media.enter({ roomId, userId, userName, role, byNumber, hand }, ticket)
  }

  left(gateway: string, { roomId, userId, kicked, ended, restarting }: ReportParams<'remoteLeft'>): void {
    const by = this.#people.gatewayOf(roomId, userId)
    if (by === gateway && restarting) this.#awaitBack([{ roomId, userId }])
    else if (by === gateway) {
      this.#forget(roomId, userId)
      this.#leave(roomId, userId)
    } else if (by === undefined && kicked) this.#try('removing a user failed', () => this.#options.kick(roomId, userId))
    else if (by === undefined && ended)
      this.#try('removing a user failed', (signal) => this.#options.dismiss(roomId, userId, signal))
  }

  /**
   * Mutes a person in a room with remote media for the operator.
   * @throws errors of the program or the node
   */
  async mute(roomId: string, userId: string, kind: 'audio' | 'video'): Promise<void> {
    const through = this.#people.gatewayOf(roomId, userId)
    if (through !== undefined) await this.#requests.send(through, 'mute', { roomId, userId, kind, by: '' })
    else {
      const signal = AbortSignal.timeout(requestTimeoutMs)
      await this.#options.media.mute({ roomId, userId, kind, muted: true }, signal)
    }
  }

  /**
   * Mutes or unmutes a user for a host. Muting a user who entered through another program is left to that program,
   * which notifies them. All other changes are made at the node.
   */
  muted(gateway: string, { roomId, userId, kind, muted, by }: ReportParams<'remoteMuted'>): void {
    const through = this.#people.gatewayOf(roomId, userId)
    if (muted && through !== undefined && through !== gateway)
      return this.#requests.notify(through, 'mute', { roomId, userId, kind, by })
    this.#try('muting a user failed', (signal) => this.#options.media.mute({ roomId, userId, kind, muted }, signal))
  }

  #leave(roomId: string, userId: string): void {
    this.#try('a user could not leave their room', () => this.#options.media.leave(roomId, userId))
  }

  /** Records that a user left. Returns the program through which the user entered; undefined: none. */
  #forget(roomId: string, userId: string): string | undefined {
    const listed = this.#options.usersOf(roomId).some((user) => user.userId === userId)
    return this.#people.forget(roomId, userId, listed)
  }

  /**
   * Calls a method on the media of a room for the people of a program.
   * @throws MediaRefusal
   */
  async call<M extends RoomMediaMethod>(
    gateway: string,
    method: M,
    params: RoomMediaParams<M>,
  ): Promise<RoomMediaResult<M>> {
    const { media, logger } = this.#options
    if (method === 'end' && 'session' in params) this.#sessions.delete(params.session)
    try {
      const result = await (media as RoomMedia)[method](params, AbortSignal.timeout(requestTimeoutMs))
      if ('session' in result) this.#sessions.set(result.session, gateway)
      return result
    } catch (error) {
      const refusal = media.refusalOf(error)
      if (refusal === 'busy') logger.warn({ err: error, method }, 'a call on the media of a room failed')
      throw new MediaRefusal(refusal, { cause: error })
    }
  }

  /** Sends people and streams of a room to its programs, once for all changes of the current microtask. */
  #updateSoon(roomId: string): void {
    for (const [gateway, rooms] of this.#gateways) {
      const room = rooms.get(roomId)
      if (room === undefined || room.updating) continue
      room.updating = true
      queueMicrotask(() => {
        room.updating = false
        if (rooms.get(roomId) === room)
          this.#requests.notify(gateway, 'set_remote_room', this.#remoteRoom(gateway, roomId))
      })
    }
  }

  #remoteRoom(gateway: string, roomId: string): RemoteRoom {
    const people = this.#options
      .usersOf(roomId)
      .filter(
        ({ userId }) => this.#people.gatewayOf(roomId, userId) !== gateway && !this.#people.isGoing(roomId, userId),
      )
    const feeds = this.#options.media.feedsOf(roomId)
    const hasSmall = (userId: string): boolean => this.#options.hasSmall(roomId, userId)
    const isProven = (userId: string): boolean =>
      this.#people.gatewayOf(roomId, userId) !== undefined || this.#options.isProven(roomId, userId)
    return remoteRoom(roomId, people, feeds, isProven, hasSmall)
  }

  #try(what: string, run: (signal: AbortSignal) => Promise<unknown>): void {
    run(AbortSignal.timeout(requestTimeoutMs)).catch((error: unknown) =>
      this.#options.logger.debug({ err: error }, what),
    )
  }
}

/** Returns a stream in the form of the console. */
function remoteStats(roomId: string, { userId, source, videoCodec, audioCodec }: RemoteFeed): StreamStats {
  return {
    room_id: roomId,
    stream_id: source === 'main' ? userId : `${userId}${screenSuffix}`,
    user_id: userId,
    video_codec: videoCodec.toUpperCase(),
    audio_codec: audioCodec.toUpperCase(),
    counted: false,
    video_bytes: 0,
    audio_bytes: 0,
    frames: 0,
    key_frames: 0,
    last_key_frame_at: 0,
    last_packet_at: 0,
    viewers: 0,
    b_frames: false,
    conversion: null,
    shortcomings: [],
  }
}
