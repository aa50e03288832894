import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import { callRoomMedia, type MediaOutcome, type RoomMediaCall } from '../../../shared/media/room-media.ts'
import type { ControlParams } from '../../../shared/media/control.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change, Store } from '../../store/store.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { GatewayEvent } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { toNodeRoom } from '../pool/placement/node-room.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import { remoteRoom, remoteStats } from './remote-room-views.ts'
import { GatewayPeople } from './gateway-people.ts'
import { type AskGateway, GatewayWords } from './gateway-requests.ts'
import type { RoomMedia, RoomMediaEvent, RoomPeople } from '../port/room-media.ts'

/** Options of the rooms whose page is here while their media is remote. */
export interface GatewayRoomsOptions {
  store: Pick<Store, 'get' | 'unseal'>
  /** Media of the rooms whose page is shown here. */
  media: RoomMedia & RoomPeople
  /** Whether the media of rooms on this node is remote. */
  isRemote: (node: string) => boolean
  /** Everybody in a room, as its node told. */
  usersOf: (roomId: string) => readonly NodeUser[]
  request: AskGateway
  /** Whether there is a smaller picture of what a user of a room sends. */
  hasSmall: (roomId: string, userId: string) => boolean
  /** Takes somebody out who came to the node by another way. */
  kick: (roomId: string, userId: string) => Promise<unknown>
  /** The same of somebody who may come back at once. */
  dismiss: (roomId: string, userId: string, signal: AbortSignal) => Promise<unknown>
  /** Whether a participant of a room has proven their id. */
  isProven: (roomId: string, userId: string) => boolean
  /** Somebody who proves the id was taken out lately by the controller's wish. */
  wasKicked: (roomId: string, userId: string) => boolean
  /** How long somebody may be without the program that they came through, in milliseconds. */
  resumeMs: () => number
  logger: NodeLogger
}

/** What a program is waited for, and what media may take, in milliseconds: less than the program waits. */
const actMs = 5_000

/** A room at a program. */
interface GatewayRoom {
  /** Its people and streams are about to be told. */
  telling: boolean
}

/**
 * Rooms whose people come through the room page of one of our programs while their media is on another node. The program opens such a room when somebody stands before
 * it; from then on it is told what the room is, who is in it and what can be watched, and what it wants of media is done by whichever nodes the room is on.
 * Large because requests of programs and events of media change the same rooms and sessions.
 */
export class GatewayRooms {
  readonly #options: GatewayRoomsOptions
  /** By program, then by room. */
  readonly #gateways = new Map<string, Map<string, GatewayRoom>>()
  readonly #people = new GatewayPeople()
  /** The program whose media it is, by its name. */
  readonly #sessions = new Map<string, string>()
  readonly #words: GatewayWords
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: GatewayRoomsOptions) {
    this.#options = options
    this.#words = new GatewayWords(options.request, options.logger)
  }

  /** Whether a room on this node can be shown by a program. */
  isRemote(node: string): boolean {
    return this.#options.isRemote(node)
  }

  /** The program knows the room from now on. @throws what the request failed with */
  async open(gateway: string, room: StoredRoom): Promise<void> {
    const rooms = this.#gateways.get(gateway) ?? new Map<string, GatewayRoom>()
    this.#gateways.set(gateway, rooms)
    const opened = this.#words.say(gateway, 'open_room', this.#config(room))
    rooms.set(room.room_id, { telling: false })
    this.#tell(room.room_id)
    await opened
  }

  /**
   * Lists what can be watched in one such room, or in all of them as far as that is known without asking.
   * @throws nothing: what cannot be looked at is left out
   */
  async streamsOf(roomId: string | undefined, signal: AbortSignal): Promise<StreamStats[]> {
    if (roomId === undefined) {
      const known = new Set([...this.#gateways.values()].flatMap((rooms) => [...rooms.keys()]))
      return [...known].flatMap((each) => this.#statsOf(each))
    }
    try {
      await this.#options.media.look(roomId, signal)
    } catch (error) {
      this.#options.logger.debug({ err: error, room: roomId }, 'a room could not be looked at')
    }
    return this.#statsOf(roomId)
  }

  #statsOf(roomId: string): StreamStats[] {
    return this.#options.media.feedsOf(roomId).map((feed) => remoteStats(roomId, feed))
  }

  /** Takes what a program says. */
  take(gateway: string, event: GatewayEvent): void {
    switch (event.type) {
      case 'carriedEntered':
        return this.#entered(gateway, event)
      case 'carriedLeft':
        return this.#left(gateway, event)
      case 'carriedMuted':
        return this.#muted(gateway, event)
      case 'mediaRequested':
        return void this.#answer(gateway, event.id, event.call)
    }
  }

  /** Takes an event of the remote media. */
  heard(event: RoomMediaEvent): void {
    if (event.type === 'feeds') return this.#tell(event.roomId)
    if (event.type === 'over') {
      const gateway = this.#sessions.get(event.session)
      this.#sessions.delete(event.session)
      if (gateway !== undefined) this.#words.tell(gateway, 'carried_over', { session: event.session })
      return
    }
    const { roomId, userId, error } = event
    const gateway = this.#forget(roomId, userId)
    if (gateway === undefined) return
    const kicked = this.#options.wasKicked(roomId, userId)
    if (!kicked) this.#options.logger.info({ room: roomId, user: userId, err: error }, 'somebody is out of their room')
    this.#words.tell(gateway, 'carried_out', { roomId, userId, reason: kicked ? 'kicked' : 'restarting' })
  }

  /** Takes what the pool says. */
  noted(event: PoolEvent): void {
    if (event.type !== 'joined' && event.type !== 'left' && event.type !== 'deviceLost') return
    const { roomId } = event
    this.#people.told(roomId, event.type === 'deviceLost' ? event.userId : event.user.userId)
    this.#tell(roomId)
  }

  /** Rooms may have changed. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) if (change.collection === 'rooms') this.#follow(change.key, change.value)
  }

  /** A program began anew, and knows nothing. Whoever came through it comes back, or is out after a while. */
  restarted(gateway: string): void {
    this.#gateways.delete(gateway)
    this.#awaitBack(this.#people.through(gateway))
  }

  /** They are in their rooms still, and without a program: they come back, or are out after a while. */
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

  /** Nothing more is done. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#gateways.clear()
  }

  #follow(roomId: string, room: StoredRoom | undefined): void {
    for (const [gateway, rooms] of this.#gateways) {
      if (!rooms.has(roomId)) continue
      // Between two nodes with remote media the people are moved by the media itself.
      const moves = room !== undefined && !room.closed && room.node !== '' && !this.isRemote(room.node)
      if (room === undefined || room.closed || moves) {
        rooms.delete(roomId)
        this.#words.tell(gateway, 'close_room', { roomId, moves, carried: true })
      } else this.#words.tell(gateway, 'open_room', this.#config(room))
    }
  }

  #config(room: StoredRoom): ControlParams<'open_room'> {
    return { ...toNodeRoom(room, this.#options.store), carried: true }
  }

  #entered(gateway: string, { roomId, user, ticket }: Extract<GatewayEvent, { type: 'carriedEntered' }>): void {
    const { userId, userName, role, byNumber } = user
    this.#people.came(roomId, userId, gateway)
    this.#options.media.enter({ roomId, userId, userName, role, byNumber }, ticket)
  }

  #left(
    gateway: string,
    { roomId, userId, kicked, ended, restarting }: Extract<GatewayEvent, { type: 'carriedLeft' }>,
  ): void {
    const by = this.#people.gatewayOf(roomId, userId)
    if (by === gateway && restarting) this.#awaitBack([{ roomId, userId }])
    else if (by === gateway) {
      this.#forget(roomId, userId)
      this.#leave(roomId, userId)
    } else if (by === undefined && kicked)
      this.#try('somebody was not taken out', () => this.#options.kick(roomId, userId))
    else if (by === undefined && ended)
      this.#try('somebody was not taken out', (signal) => this.#options.dismiss(roomId, userId, signal))
  }

  /** The program that somebody came through tells them, and says it then; whoever came otherwise is silenced without. */
  #muted(gateway: string, { roomId, userId, kind, muted, by }: Extract<GatewayEvent, { type: 'carriedMuted' }>): void {
    const through = this.#people.gatewayOf(roomId, userId)
    if (muted && through !== undefined && through !== gateway)
      return this.#words.tell(through, 'carried_muted', { roomId, userId, kind, by })
    this.#try('somebody was not silenced', (signal) =>
      this.#options.media.mute({ roomId, userId, kind, muted }, signal),
    )
  }

  #leave(roomId: string, userId: string): void {
    this.#try('somebody was not taken out of their room', () => this.#options.media.leave(roomId, userId))
  }

  /** @returns the program they came through */
  #forget(roomId: string, userId: string): string | undefined {
    const listed = this.#options.usersOf(roomId).some((user) => user.userId === userId)
    return this.#people.forget(roomId, userId, listed)
  }

  async #answer(gateway: string, id: number, call: RoomMediaCall): Promise<void> {
    const outcome = await this.#outcome(gateway, call)
    this.#words.tell(gateway, 'answer_media', { id, outcome })
  }

  async #outcome(gateway: string, call: RoomMediaCall): Promise<MediaOutcome> {
    const { media, logger } = this.#options
    if (call.method === 'end') this.#sessions.delete(call.params.session)
    try {
      const result = await callRoomMedia(media, call, AbortSignal.timeout(actMs))
      if ('session' in result) this.#sessions.set(result.session, gateway)
      return { done: true, result: { ...result } }
    } catch (error) {
      const refusal = media.refusalOf(error)
      if (refusal === 'busy') logger.warn({ err: error, method: call.method }, 'a call on the media of a room failed')
      return { done: false, refusal }
    }
  }

  /** Programs that have the room are told who is in it and what can be watched, once for all that happens in one go. */
  #tell(roomId: string): void {
    for (const [gateway, rooms] of this.#gateways) {
      const room = rooms.get(roomId)
      if (room === undefined || room.telling) continue
      room.telling = true
      queueMicrotask(() => {
        room.telling = false
        if (rooms.get(roomId) === room) this.#words.tell(gateway, 'set_carried', this.#remoteRoom(gateway, roomId))
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
    run(AbortSignal.timeout(actMs)).catch((error: unknown) => this.#options.logger.debug({ err: error }, what))
  }
}
