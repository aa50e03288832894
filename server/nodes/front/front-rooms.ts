import type { CarriedRoom, MediaOutcome, MediaWish } from '../../../shared/media/carriage.ts'
import type { ControlEvent, ControlMethod, ControlParams, StreamStats } from '../../../shared/media/control.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change, Store } from '../../store/store.ts'
import type { NodeUser } from '../media-node.ts'
import type { NodeLogger } from '../node-failure.ts'
import { toNodeRoom } from '../placement/node-room.ts'
import type { PoolEvent } from '../pool-events.ts'
import type { CarrierEvent, RoomCarrier } from './room-carrier.ts'

/** What the program that shows the room page says of rooms that another node carries. */
export type FrontEvent = Extract<ControlEvent, { type: (typeof frontEvents)[number] }>

const frontEvents = [
  'carriedEntered',
  'carriedLeft',
  'carriedMuted',
  'mediaWanted',
  'carriedShown',
  'carriedEnded',
] as const

export function isFrontEvent(event: ControlEvent): event is FrontEvent {
  return frontEvents.some((type) => type === event.type)
}

/** What rooms with a page here and their media elsewhere are made of. */
export interface FrontRoomsOptions {
  store: Pick<Store, 'get' | 'unseal'>
  /** Of a node; undefined where it carries no rooms for others. */
  carrierOf: (node: string) => RoomCarrier | undefined
  /** Everybody in a room, as its node told. */
  usersOf: (roomId: string) => readonly NodeUser[]
  /** Asks the program that is named after this node. */
  request: <M extends ControlMethod>(front: string, method: M, params: ControlParams<M>) => Promise<unknown>
  /** Takes somebody out who came to the node by another way. */
  kick: (roomId: string, userId: string) => Promise<unknown>
  /** The same of somebody who may come back at once. */
  dismiss: (roomId: string, userId: string, signal: AbortSignal) => Promise<unknown>
  /** Somebody was taken out lately by the controller's wish. */
  wasKicked: (roomId: string, userId: string) => boolean
  /** How long somebody may be without the program that they came through, in milliseconds. */
  resumeMs: () => number
  logger: NodeLogger
}

/** What a program is waited for, and what media may take, in milliseconds: less than the program waits. */
const actMs = 5_000

/** A room at a program. */
interface FrontRoom {
  node: string
  /** Its people and streams are about to be told. */
  telling: boolean
}

/**
 * Rooms whose people come through the room page of one of our programs while another node carries their media. The program opens such a room when somebody stands before
 * it; from then on it is told what the room is, who is in it and what can be watched, and what it wants of media is done by the carrier of the room's node.
 */
export class FrontRooms {
  readonly #options: FrontRoomsOptions
  /** By program, then by room. */
  readonly #fronts = new Map<string, Map<string, FrontRoom>>()
  /** Program through which somebody came, by room and user. */
  readonly #people = new Map<string, Map<string, string>>()
  /** Those who came through a program and go, by room: their node has not said yet that they are out. */
  readonly #going = new Map<string, Set<string>>()
  /** Where media is, by its name. */
  readonly #sessions = new Map<string, { front: string; node: string }>()
  /** What a program is told, in order. */
  readonly #words = new Map<string, Promise<unknown>>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: FrontRoomsOptions) {
    this.#options = options
  }

  /** Whether a room on this node can be shown by a program. */
  carries(node: string): boolean {
    return this.#options.carrierOf(node) !== undefined
  }

  /** The program knows the room from now on. @throws what the request failed with */
  async open(front: string, room: StoredRoom): Promise<void> {
    const rooms = this.#fronts.get(front) ?? new Map<string, FrontRoom>()
    this.#fronts.set(front, rooms)
    const opened = this.#say(front, 'open_room', this.#config(room))
    rooms.set(room.room_id, { node: room.node, telling: false })
    this.#tell(room.room_id)
    await opened
  }

  /**
   * What can be watched in a room that is carried so, or in all of them as far as that is known without looking.
   * @throws nothing: what cannot be looked at is left out
   */
  async streamsOf(roomId: string | undefined, signal: AbortSignal): Promise<StreamStats[]> {
    if (roomId === undefined) {
      const known = new Set([...this.#fronts.values()].flatMap((rooms) => [...rooms.keys()]))
      return [...known].flatMap((each) => this.#statsOf(each))
    }
    const carrier = this.#carrierOf(roomId)
    try {
      await carrier?.look(roomId, signal)
    } catch (error) {
      this.#options.logger.debug({ err: error, room: roomId }, 'a room could not be looked at')
    }
    return this.#statsOf(roomId)
  }

  /** Nothing is counted here: its media goes by no program of ours. */
  #statsOf(roomId: string): StreamStats[] {
    const feeds = this.#carrierOf(roomId)?.feedsOf(roomId) ?? []
    return feeds.map(({ userId, source, videoCodec, audioCodec }) => ({
      room_id: roomId,
      stream_id: source === 'main' ? userId : `${userId}${screenSuffix}`,
      user_id: userId,
      video_codec: videoCodec.toUpperCase(),
      audio_codec: audioCodec.toUpperCase(),
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
    }))
  }

  /** Takes what a program says. */
  take(front: string, event: FrontEvent): void {
    switch (event.type) {
      case 'carriedEntered':
        return this.#entered(front, event)
      case 'carriedLeft':
        return this.#left(front, event)
      case 'carriedMuted':
        return this.#muted(front, event)
      case 'mediaWanted':
        return void this.#answer(front, event.id, event.wish)
      case 'carriedShown':
        return this.#try('how high a picture is shown was not told', (signal) =>
          this.#carrierOfSession(event.session)?.show(event.session, event.height, signal),
        )
      case 'carriedEnded': {
        const carrier = this.#carrierOfSession(event.session)
        this.#sessions.delete(event.session)
        return this.#try('media could not be ended', () => carrier?.end(event.session))
      }
    }
  }

  /** Takes what a carrier says of the people of its node. */
  heard(event: CarrierEvent): void {
    if (event.type === 'feeds') return this.#tell(event.roomId)
    if (event.type === 'over') {
      const known = this.#sessions.get(event.session)
      this.#sessions.delete(event.session)
      if (known !== undefined) void this.#say(known.front, 'carried_over', { session: event.session }).catch(ignore)
      return
    }
    const { roomId, userId, error } = event
    const front = this.#forget(roomId, userId)
    if (front === undefined) return
    const kicked = this.#options.wasKicked(roomId, userId)
    if (!kicked) this.#options.logger.info({ room: roomId, user: userId, err: error }, 'somebody is out of their room')
    void this.#say(front, 'carried_out', { roomId, userId, reason: kicked ? 'kicked' : 'restarting' }).catch(ignore)
  }

  /** Takes what the pool says. */
  noted(event: PoolEvent): void {
    if (event.type !== 'joined' && event.type !== 'left' && event.type !== 'deviceLost') return
    const { roomId } = event
    const going = this.#going.get(roomId)
    going?.delete(event.type === 'deviceLost' ? event.userId : event.user.userId)
    if (going?.size === 0) this.#going.delete(roomId)
    this.#tell(roomId)
  }

  /** Rooms may have changed. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) if (change.collection === 'rooms') this.#follow(change.key, change.value)
  }

  /** A program began anew, and knows nothing. Whoever came through it comes back, or is out after a while. */
  restarted(front: string): void {
    this.#fronts.delete(front)
    const away = [...this.#people].flatMap(([roomId, people]) =>
      Array.from(people, ([userId, by]) => ({ roomId, userId, by })).filter(({ by }) => by === front),
    )
    for (const { roomId, userId } of away) this.#forget(roomId, userId)
    if (away.length === 0) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      for (const { roomId, userId } of away)
        if (this.#people.get(roomId)?.has(userId) !== true) this.#leave(roomId, userId)
    }, this.#options.resumeMs())
    timer.unref()
    this.#timers.add(timer)
  }

  /** Nothing more is done. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#fronts.clear()
  }

  #follow(roomId: string, room: StoredRoom | undefined): void {
    for (const [front, rooms] of this.#fronts) {
      const known = rooms.get(roomId)
      if (known === undefined) continue
      const moves = room !== undefined && !room.closed && room.node !== known.node
      if (room === undefined || room.closed || moves) {
        rooms.delete(roomId)
        void this.#say(front, 'close_room', { roomId, moves, carried: true }).catch(ignore)
      } else void this.#say(front, 'open_room', this.#config(room)).catch(ignore)
    }
  }

  #config(room: StoredRoom): ControlParams<'open_room'> {
    return { ...toNodeRoom(room, this.#options.store), carried: true }
  }

  #entered(front: string, { roomId, user }: Extract<FrontEvent, { type: 'carriedEntered' }>): void {
    const people = this.#people.get(roomId) ?? new Map<string, string>()
    this.#people.set(roomId, people.set(user.userId, front))
    const { userId, userName, role, byNumber } = user
    this.#carrierOf(roomId)?.enter({ roomId, userId, userName, role, byNumber })
  }

  #left(front: string, { roomId, userId, kicked, ended }: Extract<FrontEvent, { type: 'carriedLeft' }>): void {
    const by = this.#people.get(roomId)?.get(userId)
    if (by === front) {
      this.#forget(roomId, userId)
      this.#leave(roomId, userId)
    } else if (by === undefined && kicked)
      this.#try('somebody was not taken out', () => this.#options.kick(roomId, userId))
    else if (by === undefined && ended)
      this.#try('somebody was not taken out', (signal) => this.#options.dismiss(roomId, userId, signal))
  }

  /** The program that somebody came through tells them, and says it then; whoever came otherwise is silenced without. */
  #muted(front: string, { roomId, userId, kind, muted, by }: Extract<FrontEvent, { type: 'carriedMuted' }>): void {
    const through = this.#people.get(roomId)?.get(userId)
    if (muted && through !== undefined && through !== front)
      return void this.#say(through, 'carried_muted', { roomId, userId, kind, by }).catch(ignore)
    this.#try('somebody was not silenced', (signal) =>
      this.#carrierOf(roomId)?.mute({ roomId, userId, kind, muted }, signal),
    )
  }

  #leave(roomId: string, userId: string): void {
    const carrier = this.#carrierOf(roomId)
    this.#try('somebody was not taken out of their room', () => carrier?.leave(roomId, userId))
  }

  /** @returns the program they came through */
  #forget(roomId: string, userId: string): string | undefined {
    const people = this.#people.get(roomId)
    const front = people?.get(userId)
    people?.delete(userId)
    if (people?.size === 0) this.#people.delete(roomId)
    if (this.#options.usersOf(roomId).some((user) => user.userId === userId)) {
      const going = this.#going.get(roomId) ?? new Set<string>()
      this.#going.set(roomId, going.add(userId))
    }
    return front
  }

  async #answer(front: string, id: number, wish: MediaWish): Promise<void> {
    const outcome = await this.#outcome(front, wish)
    await this.#say(front, 'answer_media', { id, outcome }).catch(ignore)
  }

  async #outcome(front: string, wish: MediaWish): Promise<MediaOutcome> {
    const carrier = 'session' in wish ? this.#carrierOfSession(wish.session) : this.#carrierOf(wish.roomId)
    if (carrier === undefined) return { done: false, refusal: 'session' in wish ? 'noSession' : 'noRoom' }
    try {
      return { done: true, ...(await this.#do(front, carrier, wish, AbortSignal.timeout(actMs))) }
    } catch (error) {
      const refusal = carrier.refusalOf(error)
      if (refusal === 'busy')
        this.#options.logger.warn({ err: error, act: wish.act }, 'media of a room was not to be had')
      return { done: false, refusal }
    }
  }

  async #do(
    front: string,
    carrier: RoomCarrier,
    wish: MediaWish,
    signal: AbortSignal,
  ): Promise<{ session: string; sdp: string }> {
    switch (wish.act) {
      case 'publish': {
        const { act: _, ...publication } = wish
        const { session, answer } = await carrier.publish(publication, signal)
        return this.#begun(front, wish.roomId, session, answer)
      }
      case 'watch': {
        const { roomId, streamId: feedId } = wish
        const height = wish.height ?? undefined
        const { session, offer } = await carrier.watch(
          { roomId, feedId, userId: wish.userId ?? undefined, height },
          signal,
        )
        return this.#begun(front, roomId, session, offer)
      }
      case 'start':
        await carrier.start(wish.session, wish.answer, signal)
        return { session: wish.session, sdp: '' }
      case 'restart': {
        const { session, userFragment, password } = wish
        return { session, sdp: await carrier.restart(session, { userFragment, password }, signal) }
      }
      case 'trickle': {
        const candidates = wish.candidates.map(({ candidate, mid }) => ({ candidate, sdpMid: mid }))
        await carrier.trickle(wish.session, candidates, signal)
        return { session: wish.session, sdp: '' }
      }
    }
  }

  #begun(front: string, roomId: string, session: string, sdp: string): { session: string; sdp: string } {
    this.#sessions.set(session, { front, node: this.#nodeOf(roomId) })
    return { session, sdp }
  }

  #nodeOf(roomId: string): string {
    return this.#options.store.get('rooms', roomId)?.node ?? ''
  }

  #carrierOf(roomId: string): RoomCarrier | undefined {
    return this.#options.carrierOf(this.#nodeOf(roomId))
  }

  #carrierOfSession(session: string): RoomCarrier | undefined {
    const known = this.#sessions.get(session)
    return known === undefined ? undefined : this.#options.carrierOf(known.node)
  }

  /** Programs that have the room are told who is in it and what can be watched, once for all that happens in one go. */
  #tell(roomId: string): void {
    for (const [front, rooms] of this.#fronts) {
      const room = rooms.get(roomId)
      if (room === undefined || room.telling) continue
      room.telling = true
      queueMicrotask(() => {
        room.telling = false
        if (rooms.get(roomId) === room) void this.#say(front, 'set_carried', this.#carried(front, roomId)).catch(ignore)
      })
    }
  }

  #carried(front: string, roomId: string): CarriedRoom {
    const here = this.#people.get(roomId)
    const going = this.#going.get(roomId)
    const people = this.#options
      .usersOf(roomId)
      .filter(({ userId }) => here?.get(userId) !== front && going?.has(userId) !== true)
    const feeds = this.#carrierOf(roomId)?.feedsOf(roomId) ?? []
    return {
      roomId,
      people: people.map(({ userId, userName, device, role, byNumber = false, joinedAt }) => ({
        userId,
        userName,
        device,
        role,
        byNumber,
        joinedAt,
      })),
      streams: feeds.map(({ userId, source, videoCodec, audioCodec, videoMuted, audioMuted, tellsLevel, speaks }) => ({
        userId,
        source,
        videoCodec: videoCodec.toUpperCase(),
        audioCodec: audioCodec.toUpperCase(),
        videoMuted,
        audioMuted,
        tellsLevel,
        speaks,
      })),
    }
  }

  /** What is told of one room comes in the order in which it was said. */
  #say<M extends ControlMethod>(front: string, method: M, params: ControlParams<M>): Promise<unknown> {
    const said = (this.#words.get(front) ?? Promise.resolve()).then(() => this.#options.request(front, method, params))
    const settled = said.catch((error: unknown) => {
      this.#options.logger.debug({ err: error, node: front }, 'the program of the room page did not take a word')
    })
    this.#words.set(front, settled)
    void settled.then(() => {
      if (this.#words.get(front) === settled) this.#words.delete(front)
    })
    return said
  }

  #try(what: string, run: (signal: AbortSignal) => Promise<unknown> | undefined): void {
    run(AbortSignal.timeout(actMs))?.catch((error: unknown) => this.#options.logger.debug({ err: error }, what))
  }
}

/** It was noted where it failed. */
function ignore(): void {}
