import type { CarriedRoom, MediaOutcome, MediaWish } from '../../../shared/media/remote-media.ts'
import type { ControlParams } from '../../../shared/media/control.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Change, Store } from '../../store/store.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { GatewayEvent } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { toNodeRoom } from '../pool/placement/node-room.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import { carriedRoom, carriedStats } from './remote-room-views.ts'
import { GatewayPeople } from './gateway-people.ts'
import { type AskGateway, GatewayWords } from './gateway-requests.ts'
import type { CarrierEvent, RoomCarrier } from '../port/room-media.ts'

/** What rooms with a page here and their media elsewhere are made of. */
export interface GatewayRoomsOptions {
  store: Pick<Store, 'get' | 'unseal'>
  /** Carries the media of rooms whose page is shown here. */
  carrier: RoomCarrier
  /** Whether rooms on this node are the carrier's. */
  carries: (node: string) => boolean
  /** Everybody in a room, as its node told. */
  usersOf: (roomId: string) => readonly NodeUser[]
  request: AskGateway
  /** Whether there is a smaller picture of what a user of a room sends. */
  hasSmall: (roomId: string, userId: string) => boolean
  /** Takes somebody out who came to the node by another way. */
  kick: (roomId: string, userId: string) => Promise<unknown>
  /** The same of somebody who may come back at once. */
  dismiss: (roomId: string, userId: string, signal: AbortSignal) => Promise<unknown>
  /** Whether a participant of a room that is carried has proven their id. */
  isProven: (roomId: string, userId: string) => boolean
  /** Somebody who proves the id was taken out lately by the controller's wish. */
  wasKicked: (roomId: string, userId: string) => boolean
  /** How long somebody may be without the program that they came through, in milliseconds. */
  resumeMs: () => number
  logger: NodeLogger
}

/** What a program is waited for, and what media may take, in milliseconds: less than the program waits. */
const actMs = 5_000

/** What was done of a wish. */
type Done = Omit<Extract<MediaOutcome, { done: true }>, 'done'>

/** A room at a program. */
interface GatewayRoom {
  /** Its people and streams are about to be told. */
  telling: boolean
}

/**
 * Rooms whose people come through the room page of one of our programs while another node carries their media. The program opens such a room when somebody stands before
 * it; from then on it is told what the room is, who is in it and what can be watched, and what it wants of media is done by its carrier, on whichever nodes the room is.
 * Large because requests of programs and events of media change the same rooms and sessions.
 */
export class GatewayRooms {
  readonly #options: GatewayRoomsOptions
  /** By program, then by room. */
  readonly #fronts = new Map<string, Map<string, GatewayRoom>>()
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
  carries(node: string): boolean {
    return this.#options.carries(node)
  }

  /** The program knows the room from now on. @throws what the request failed with */
  async open(front: string, room: StoredRoom): Promise<void> {
    const rooms = this.#fronts.get(front) ?? new Map<string, GatewayRoom>()
    this.#fronts.set(front, rooms)
    const opened = this.#words.say(front, 'open_room', this.#config(room))
    rooms.set(room.room_id, { telling: false })
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
    try {
      await this.#options.carrier.look(roomId, signal)
    } catch (error) {
      this.#options.logger.debug({ err: error, room: roomId }, 'a room could not be looked at')
    }
    return this.#statsOf(roomId)
  }

  #statsOf(roomId: string): StreamStats[] {
    return this.#options.carrier.feedsOf(roomId).map((feed) => carriedStats(roomId, feed))
  }

  /** Takes what a program says. */
  take(front: string, event: GatewayEvent): void {
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
          this.#options.carrier.show(event.session, event.height, signal),
        )
      case 'carriedEnded':
        this.#sessions.delete(event.session)
        return this.#try('media could not be ended', () => this.#options.carrier.end(event.session))
    }
  }

  /** Takes what the carrier says. */
  heard(event: CarrierEvent): void {
    if (event.type === 'feeds') return this.#tell(event.roomId)
    if (event.type === 'over') {
      const front = this.#sessions.get(event.session)
      this.#sessions.delete(event.session)
      if (front !== undefined) this.#words.tell(front, 'carried_over', { session: event.session })
      return
    }
    const { roomId, userId, error } = event
    const front = this.#forget(roomId, userId)
    if (front === undefined) return
    const kicked = this.#options.wasKicked(roomId, userId)
    if (!kicked) this.#options.logger.info({ room: roomId, user: userId, err: error }, 'somebody is out of their room')
    this.#words.tell(front, 'carried_out', { roomId, userId, reason: kicked ? 'kicked' : 'restarting' })
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
  restarted(front: string): void {
    this.#fronts.delete(front)
    this.#awaitBack(this.#people.through(front))
  }

  /** They are in their rooms still, and without a program: they come back, or are out after a while. */
  #awaitBack(away: readonly { roomId: string; userId: string }[]): void {
    if (away.length === 0) return
    for (const { roomId, userId } of away) this.#people.forget(roomId, userId, false)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      for (const { roomId, userId } of away)
        if (this.#people.frontOf(roomId, userId) === undefined) this.#leave(roomId, userId)
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
      if (!rooms.has(roomId)) continue
      // From one node that is carried to another its people are brought by the carrier.
      const moves = room !== undefined && !room.closed && room.node !== '' && !this.carries(room.node)
      if (room === undefined || room.closed || moves) {
        rooms.delete(roomId)
        this.#words.tell(front, 'close_room', { roomId, moves, carried: true })
      } else this.#words.tell(front, 'open_room', this.#config(room))
    }
  }

  #config(room: StoredRoom): ControlParams<'open_room'> {
    return { ...toNodeRoom(room, this.#options.store), carried: true }
  }

  #entered(front: string, { roomId, user, ticket }: Extract<GatewayEvent, { type: 'carriedEntered' }>): void {
    const { userId, userName, role, byNumber } = user
    this.#people.came(roomId, userId, front)
    this.#options.carrier.enter({ roomId, userId, userName, role, byNumber }, ticket)
  }

  #left(
    front: string,
    { roomId, userId, kicked, ended, restarting }: Extract<GatewayEvent, { type: 'carriedLeft' }>,
  ): void {
    const by = this.#people.frontOf(roomId, userId)
    if (by === front && restarting) this.#awaitBack([{ roomId, userId }])
    else if (by === front) {
      this.#forget(roomId, userId)
      this.#leave(roomId, userId)
    } else if (by === undefined && kicked)
      this.#try('somebody was not taken out', () => this.#options.kick(roomId, userId))
    else if (by === undefined && ended)
      this.#try('somebody was not taken out', (signal) => this.#options.dismiss(roomId, userId, signal))
  }

  /** The program that somebody came through tells them, and says it then; whoever came otherwise is silenced without. */
  #muted(front: string, { roomId, userId, kind, muted, by }: Extract<GatewayEvent, { type: 'carriedMuted' }>): void {
    const through = this.#people.frontOf(roomId, userId)
    if (muted && through !== undefined && through !== front)
      return this.#words.tell(through, 'carried_muted', { roomId, userId, kind, by })
    this.#try('somebody was not silenced', (signal) =>
      this.#options.carrier.mute({ roomId, userId, kind, muted }, signal),
    )
  }

  #leave(roomId: string, userId: string): void {
    this.#try('somebody was not taken out of their room', () => this.#options.carrier.leave(roomId, userId))
  }

  /** @returns the program they came through */
  #forget(roomId: string, userId: string): string | undefined {
    const listed = this.#options.usersOf(roomId).some((user) => user.userId === userId)
    return this.#people.forget(roomId, userId, listed)
  }

  async #answer(front: string, id: number, wish: MediaWish): Promise<void> {
    const outcome = await this.#outcome(front, wish)
    this.#words.tell(front, 'answer_media', { id, outcome })
  }

  async #outcome(front: string, wish: MediaWish): Promise<MediaOutcome> {
    try {
      return { done: true, ...(await this.#do(front, wish, AbortSignal.timeout(actMs))) }
    } catch (error) {
      const refusal = this.#options.carrier.refusalOf(error)
      if (refusal === 'busy')
        this.#options.logger.warn({ err: error, act: wish.act }, 'media of a room was not to be had')
      return { done: false, refusal }
    }
  }

  async #do(front: string, wish: MediaWish, signal: AbortSignal): Promise<Done> {
    const { carrier } = this.#options
    switch (wish.act) {
      case 'publish': {
        const { act: _, ...publication } = wish
        const { session, answer, ticket } = await carrier.publish(publication, signal)
        return this.#begun(front, session, answer, ticket)
      }
      case 'watch': {
        const { roomId, streamId: feedId, small } = wish
        const height = wish.height ?? undefined
        const watched = { roomId, feedId, userId: wish.userId ?? undefined, height, small }
        const { session, offer, ticket } = await carrier.watch(watched, signal)
        return this.#begun(front, session, offer, ticket)
      }
      case 'claim': {
        const { act: _, streamId: feedId, height, ...claimed } = wish
        const { session, ticket } = await carrier.claim({ ...claimed, feedId, height: height ?? undefined }, signal)
        return this.#begun(front, session, '', ticket)
      }
      case 'start':
        await carrier.start(wish.session, wish.answer, signal)
        return { session: wish.session, sdp: '', ticket: '' }
      case 'restart': {
        const { session, userFragment, password } = wish
        return { session, sdp: await carrier.restart(session, { userFragment, password }, signal), ticket: '' }
      }
      case 'trickle': {
        const candidates = wish.candidates.map(({ candidate, mid }) => ({ candidate, sdpMid: mid }))
        await carrier.trickle(wish.session, candidates, signal)
        return { session: wish.session, sdp: '', ticket: '' }
      }
    }
  }

  #begun(front: string, session: string, sdp: string, ticket: string): Done {
    this.#sessions.set(session, front)
    return { session, sdp, ticket }
  }

  /** Programs that have the room are told who is in it and what can be watched, once for all that happens in one go. */
  #tell(roomId: string): void {
    for (const [front, rooms] of this.#fronts) {
      const room = rooms.get(roomId)
      if (room === undefined || room.telling) continue
      room.telling = true
      queueMicrotask(() => {
        room.telling = false
        if (rooms.get(roomId) === room) this.#words.tell(front, 'set_carried', this.#carried(front, roomId))
      })
    }
  }

  #carried(front: string, roomId: string): CarriedRoom {
    const people = this.#options
      .usersOf(roomId)
      .filter(({ userId }) => this.#people.frontOf(roomId, userId) !== front && !this.#people.isGoing(roomId, userId))
    const feeds = this.#options.carrier.feedsOf(roomId)
    const hasSmall = (userId: string): boolean => this.#options.hasSmall(roomId, userId)
    const isProven = (userId: string): boolean =>
      this.#people.frontOf(roomId, userId) !== undefined || this.#options.isProven(roomId, userId)
    return carriedRoom(roomId, people, feeds, isProven, hasSmall)
  }

  #try(what: string, run: (signal: AbortSignal) => Promise<unknown>): void {
    run(AbortSignal.timeout(actMs)).catch((error: unknown) => this.#options.logger.debug({ err: error }, what))
  }
}
