import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import { MediaRefusal, type RoomMediaMethod } from '../../../shared/media/room-media.ts'
import { isShut } from '../../schedule/room-hours.ts'
import type { ControlParams, ReportParams } from '../../../shared/media/control.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change, Store } from '../../store/store.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { GatewayListener } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { toNodeRoom } from '../pool/placement/node-room.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import { remoteRoom, remoteStats } from './remote-room-views.ts'
import { type RequestGateway, GatewayRequests, GatewayPeople } from './gateway-programs.ts'
import type { RoomMedia, RoomMediaEvent, RoomMediaParams, RoomMediaResult, RoomPeople } from '../port/room-media.ts'

/** Needs of the signalling gateway. */
export interface GatewayRoomsOptions {
  store: Pick<Store, 'get' | 'unseal'>
  /** Media of the rooms whose page is shown here. */
  media: RoomMedia & RoomPeople
  /** Whether the media of rooms on this node is remote. */
  isRemote: (node: string) => boolean
  /** Users of a room, as its node reported them. */
  usersOf: (roomId: string) => readonly NodeUser[]
  request: RequestGateway
  /** Whether a user's picture has a smaller layer or a substream. */
  hasSmall: (roomId: string, userId: string) => boolean
  /** Removes a user who did not come through the room page. */
  kick: (roomId: string, userId: string) => Promise<unknown>
  /** Removes such a user, who may come back at once. */
  dismiss: (roomId: string, userId: string, signal: AbortSignal) => Promise<unknown>
  /** Whether a participant of a room has proven their id. */
  isProven: (roomId: string, userId: string) => boolean
  /** Whether the controller removed this user lately. */
  wasKicked: (roomId: string, userId: string) => boolean
  /** Time for a user whose program ended to come back, in milliseconds. */
  resumeMs: () => number
  logger: NodeLogger
}

/** Timeout of a call on remote media, in milliseconds: shorter than the program's own. */
const requestTimeoutMs = 5_000

/** A room that a program has open. */
interface GatewayRoom {
  /** Its people and streams will be sent at the end of this turn of the event loop. */
  updating: boolean
}

/**
 * Signalling gateway: rooms whose people come through the room page of an embedded program while their media is on another node. A program opens such a room at its first
 * visitor. From then on it receives the room's configuration, people and streams, and its calls on media go to the nodes that the room is on.
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

  /** Whether the media of rooms on this node is remote. */
  isRemote(node: string): boolean {
    return this.#options.isRemote(node)
  }

  /** Opens a room at a program. @throws what the request failed with */
  async open(gateway: string, room: StoredRoom): Promise<void> {
    const rooms = this.#gateways.get(gateway) ?? new Map<string, GatewayRoom>()
    this.#gateways.set(gateway, rooms)
    const opened = this.#requests.send(gateway, 'open_room', this.#config(room))
    rooms.set(room.room_id, { updating: false })
    this.#updateSoon(room.room_id)
    await opened
  }

  /**
   * Lists the streams of one such room, or of all of them as far as they are known without a request.
   * @throws nothing: a room that cannot be inspected is listed as it was
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

  /** Takes an event of the remote media. */
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

  /** Takes an event of the node pool. */
  onPoolEvent(event: PoolEvent): void {
    if (event.type !== 'joined' && event.type !== 'left' && event.type !== 'deviceLost') return
    const { roomId } = event
    this.#people.reported(roomId, event.type === 'deviceLost' ? event.userId : event.user.userId)
    this.#updateSoon(roomId)
  }

  /** Follows changes of stored rooms. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) if (change.collection === 'rooms') this.#follow(change.key, change.value)
  }

  /** Notes that a program restarted and has no rooms. Its people have a while to come back. */
  restarted(gateway: string): void {
    this.#gateways.delete(gateway)
    this.#awaitBack(this.#people.through(gateway))
  }

  /** Gives people without a program a while to come back, then takes them out of their rooms. */
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

  /** Ends all timers and forgets all rooms. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#gateways.clear()
  }

  #follow(roomId: string, room: StoredRoom | undefined): void {
    for (const [gateway, rooms] of this.#gateways) {
      if (!rooms.has(roomId)) continue
      // Between two nodes with remote media the people are moved by the media itself.
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

  /** Takes a report of a program. */
  entered(gateway: string, { roomId, user, ticket }: ReportParams<'remoteEntered'>): void {
    const { userId, userName, role, byNumber, hand } = user
    this.#people.entered(roomId, userId, gateway)
    this.#options.media.enter({ roomId, userId, userName, role, byNumber, hand }, ticket)
  }

  /** Takes a report of a program. */
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

  /** Mutes a person of a room with remote media for the operator. @throws errors of the program or the node */
  async mute(roomId: string, userId: string, kind: 'audio' | 'video'): Promise<void> {
    const through = this.#people.gatewayOf(roomId, userId)
    if (through !== undefined) await this.#requests.send(through, 'mute', { roomId, userId, kind, by: '' })
    else {
      const signal = AbortSignal.timeout(requestTimeoutMs)
      await this.#options.media.mute({ roomId, userId, kind, muted: true }, signal)
    }
  }

  /** Mutes a user through their own program, which notifies them; users without one are muted at their node. */
  muted(gateway: string, { roomId, userId, kind, muted, by }: ReportParams<'remoteMuted'>): void {
    const through = this.#people.gatewayOf(roomId, userId)
    if (muted && through !== undefined && through !== gateway)
      return this.#requests.notify(through, 'mute', { roomId, userId, kind, by })
    this.#try('muting a user failed', (signal) => this.#options.media.mute({ roomId, userId, kind, muted }, signal))
  }

  #leave(roomId: string, userId: string): void {
    this.#try('a user could not leave their room', () => this.#options.media.leave(roomId, userId))
  }

  /** @returns the program they came through */
  #forget(roomId: string, userId: string): string | undefined {
    const listed = this.#options.usersOf(roomId).some((user) => user.userId === userId)
    return this.#people.forget(roomId, userId, listed)
  }

  /** Calls a method on the media of a room for the people of a program. @throws MediaRefusal */
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

  /** Sends people and streams of a room to its programs, once for all changes of one turn of the event loop. */
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
