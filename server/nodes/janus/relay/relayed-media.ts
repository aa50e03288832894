import type { MediaRefusalName } from '../../../../shared/media/room-media.ts'
import type {
  MuteWish,
  PagePerson,
  RoomMedia,
  RoomMediaEvent,
  RoomMediaParams,
  RoomMediaResult,
  RoomPeople,
} from '../../port/room-media.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { JanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusPeople, PeopleEvent } from '../people/janus-people.ts'
import { NotThere, refusalOf } from '../people/refusals.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import type { RelayIds } from './relay-ids.ts'
import type { Relays } from './relays.ts'

/** A Janus node in service, as far as people of the room page are concerned. */
interface PeopleNode {
  people: JanusPeople
  /** Prefix that marks relay participants there. */
  ids: RelayIds
}

/** Options of the media of rooms on Janus nodes. */
export interface RelayedMediaOptions {
  /** Names of the nodes that hold a room, its own first. */
  nodesOf: (roomId: string) => readonly string[]
  /** Undefined while it is not in service. */
  node: (name: string) => PeopleNode | undefined
  /** The node that somebody who comes into a room is to use, which holds the room then. @throws with why there is none */
  choose: (roomId: string, signal: AbortSignal) => Promise<string>
  /** A connection to a node was lost: it may be gone. */
  unsure: (node: string) => void
  relays: Pick<Relays, 'watch' | 'feedsOf' | 'originOf' | 'sees'>
  tell: (event: RoomMediaEvent) => void
  logger: NodeLogger
}

/** Somebody in a room, or on their way into it. */
interface Place {
  person: PagePerson
  leaving: AbortController
  /** People of the node that they entered; rejects if there is none. */
  entered: Promise<JanusPeople>
  /** Undefined until they have one. */
  node: NamedNode | undefined
}

/** A publication or subscription. */
interface Session {
  people: JanusPeople
  /** The stream need not come to their node any more. */
  release: () => void
}

/**
 * The media of rooms on Janus nodes for people of the room page, whichever nodes a room is on: everybody publishes and watches on a node of their own, and what is published
 * on another one is handed on to it.
 */
export class RelayedMedia implements RoomMedia, RoomPeople {
  readonly #options: RelayedMediaOptions
  /** Places by room and user. */
  readonly #places = new Map<string, Map<string, Place>>()
  readonly #sessions = new Map<string, Session>()

  constructor(options: RelayedMediaOptions) {
    this.#options = options
  }

  /** Rooms that somebody is in, or on their way into. */
  get rooms(): string[] {
    return [...this.#places.keys()]
  }

  /** Somebody came through the room page. */
  has(roomId: string, userId: string): boolean {
    return this.#places.get(roomId)?.has(userId) === true
  }

  enter(person: PagePerson, ticket = ''): void {
    const { roomId, userId } = person
    const room = this.#places.get(roomId) ?? new Map<string, Place>()
    const known = room.get(userId)
    if (known !== undefined) {
      // Facts about them may have changed.
      known.person = person
      known.node?.people.enter(person)
      return
    }
    const leaving = new AbortController()
    const entered = this.#nodeFor(person, ticket, leaving.signal).then((node) => {
      leaving.signal.throwIfAborted()
      place.node = node
      node.people.enter(place.person, ticket)
      return node.people
    })
    const place: Place = { person, leaving, entered, node: undefined }
    this.#places.set(roomId, room.set(userId, place))
    entered.catch((error: unknown) => this.#out(place, error))
  }

  async leave(roomId: string, userId: string): Promise<void> {
    const place = this.#places.get(roomId)?.get(userId)
    if (place === undefined) return
    this.#forget(place)
    await place.node?.people.leave(roomId, userId)
  }

  async publish(wish: RoomMediaParams<'publish'>, signal: AbortSignal): Promise<RoomMediaResult<'publish'>> {
    const people = await this.#peopleOf(wish.roomId, wish.userId, signal)
    const published = await people.publish(wish, signal)
    this.#sessions.set(published.session, { people, release: () => {} })
    return published
  }

  async watch(wish: RoomMediaParams<'watch'>, signal: AbortSignal): Promise<RoomMediaResult<'watch'>> {
    const { roomId, userId, streamId: feedId } = wish
    if (userId === null) return await this.#watchOn(this.#publishing(roomId, feedId), wish, signal)
    const people = await this.#peopleOf(roomId, userId, signal)
    const nodes = this.#nodesOf(roomId)
    const own = nodes.find((node) => node.people === people)
    const isHere = nodes.length === 1 || people.feedsOf(roomId).some((feed) => feed.feedId === feedId)
    if (own === undefined || isHere) return await this.#watchOn(people, wish, signal)
    return await this.#watchRelayed(own, wish, signal)
  }

  /** On the node where they are; what is handed on to it from another one is wanted there from now on. */
  async resume(wish: RoomMediaParams<'resume'>, signal: AbortSignal): Promise<RoomMediaResult<'resume'>> {
    const { roomId, userId, streamId: feedId, sends } = wish
    const people = await this.#peopleOf(roomId, userId, signal)
    const nodes = this.#nodesOf(roomId)
    const own = nodes.find((node) => node.people === people)
    const isHere = sends || nodes.length === 1 || people.feedsOf(roomId).some((feed) => feed.feedId === feedId)
    const relayed = own === undefined || isHere ? undefined : this.#options.relays.watch(roomId, feedId, own.name)
    try {
      const streamId = relayed === undefined ? feedId : await relayed.feed(signal)
      const resumed = await people.resume({ ...wish, streamId }, signal)
      this.#ended(resumed.session)
      this.#sessions.set(resumed.session, { people, release: () => relayed?.end() })
      return resumed
    } catch (error) {
      relayed?.end()
      throw error
    }
  }

  async answer(params: RoomMediaParams<'answer'>, signal: AbortSignal): Promise<RoomMediaResult<'answer'>> {
    return await this.#peopleBy(params.session).answer(params, signal)
  }

  async trickle(params: RoomMediaParams<'trickle'>, signal: AbortSignal): Promise<RoomMediaResult<'trickle'>> {
    return await this.#peopleBy(params.session).trickle(params, signal)
  }

  async restart(params: RoomMediaParams<'restart'>, signal: AbortSignal): Promise<RoomMediaResult<'restart'>> {
    return await this.#peopleBy(params.session).restart(params, signal)
  }

  /** On the node where it is sent: from there it is handed on as it is. */
  async mute(wish: MuteWish, signal: AbortSignal): Promise<void> {
    const { roomId, userId } = wish
    if (!this.feedsOf(roomId).some((feed) => feed.feedId === userId)) return
    const people = this.#publishing(roomId, userId)
    // Media to mute is identified by the node's list of streams.
    await people.look(roomId, signal)
    await people.mute(wish, signal)
  }

  async resize(params: RoomMediaParams<'resize'>, signal: AbortSignal): Promise<RoomMediaResult<'resize'>> {
    return (await this.#sessions.get(params.session)?.people.resize(params, signal)) ?? {}
  }

  async end(params: RoomMediaParams<'end'>): Promise<RoomMediaResult<'end'>> {
    return (await this.#ended(params.session)?.people.end(params)) ?? {}
  }

  async look(roomId: string, signal: AbortSignal): Promise<void> {
    const nodes = this.#nodesOf(roomId)
    const unseen = nodes.filter(({ name }) => nodes.length === 1 || !this.#options.relays.sees(roomId, name))
    await Promise.all(unseen.map(({ people }) => people.look(roomId, signal)))
  }

  /** Streams of all nodes of the room; relayed copies do not count. */
  feedsOf(roomId: string): PublishedFeed[] {
    const nodes = this.#nodesOf(roomId)
    const feeds = nodes.flatMap(({ people, ids }) => people.feedsOf(roomId).filter(({ feedId }) => !ids.has(feedId)))
    const relayed = nodes.length > 1 ? this.#options.relays.feedsOf(roomId) : []
    return [...new Map([...relayed, ...feeds].map((feed) => [feed.feedId, feed])).values()]
  }

  isOpen(session: string): boolean {
    return this.#sessions.has(session)
  }

  refusalOf(error: unknown): MediaRefusalName {
    return refusalOf(error)
  }

  /** Takes an event of the people of a node. */
  heard(people: JanusPeople, event: PeopleEvent): void {
    if (event.type === 'feeds') return this.#options.tell({ type: 'feeds', roomId: event.roomId })
    if (event.type === 'over') {
      if (this.#ended(event.session) !== undefined) this.#options.tell(event)
      return
    }
    const place = this.#places.get(event.roomId)?.get(event.userId)
    // A user who moved to another node meanwhile has not left.
    if (place?.node?.people !== people) return
    this.#options.unsure(place.node.name)
    this.#out(place, event.error)
  }

  /** The nodes of a room may be others: who is on one that is none of them any more is out, and may come back to another. */
  review(roomId: string): void {
    const known = new Set(this.#nodesOf(roomId).map(({ people }) => people))
    for (const place of [...(this.#places.get(roomId)?.values() ?? [])]) {
      const people = place.node?.people
      if (people === undefined || known.has(people)) continue
      this.#out(place, new NodeError('the room is no longer on their node'))
      people.leave(roomId, place.person.userId).catch((error: unknown) => {
        this.#options.logger.debug({ room: roomId, err: error }, 'a user who left could not be removed from a node')
      })
    }
    this.#options.tell({ type: 'feeds', roomId })
  }

  /** Node of a user by their ticket; without one, a node is chosen. */
  async #nodeFor(person: PagePerson, ticket: string, signal: AbortSignal): Promise<NamedNode> {
    const { roomId } = person
    const before = this.#nodesOf(roomId).find(({ people }) => people.issued(ticket, person))
    if (before !== undefined) return before
    const name = await this.#options.choose(roomId, signal)
    const node = this.#options.node(name)
    if (node === undefined) throw new NodeError(`the node ${name} is not in service`)
    return { name, ...node }
  }

  /** As it is published on the person's node, or as it is handed on to it. */
  async #watchRelayed(
    { name, people }: NamedNode,
    wish: RoomMediaParams<'watch'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'watch'>> {
    const { roomId, streamId: feedId } = wish
    if (!this.feedsOf(roomId).some((feed) => feed.feedId === feedId)) throw noFeed(feedId)
    const relayed = this.#options.relays.watch(roomId, feedId, name)
    try {
      const streamId = await relayed.feed(signal)
      return await this.#watchOn(people, { ...wish, streamId }, signal, () => relayed.end())
    } catch (error) {
      relayed.end()
      throw error
    }
  }

  async #watchOn(
    people: JanusPeople,
    wish: RoomMediaParams<'watch'>,
    signal: AbortSignal,
    release = (): void => {},
  ): Promise<RoomMediaResult<'watch'>> {
    const watched = await people.watch(wish, signal)
    this.#sessions.set(watched.session, { people, release })
    return watched
  }

  /** The people of the node on which a stream is published. @throws JanusError noRoom, noFeed */
  #publishing(roomId: string, feedId: string): JanusPeople {
    const nodes = this.#nodesOf(roomId)
    const [first] = nodes
    if (first === undefined) throw new JanusError(janusCodes.noRoom, 'the room is on no node')
    if (nodes.length === 1) return first.people
    const origin = this.#options.relays.originOf(roomId, feedId)
    const node =
      nodes.find(({ name }) => name === origin) ??
      nodes.find(({ people }) => people.feedsOf(roomId).some((feed) => feed.feedId === feedId))
    if (node === undefined) throw noFeed(feedId)
    return node.people
  }

  #nodesOf(roomId: string): NamedNode[] {
    return this.#options.nodesOf(roomId).flatMap((name) => {
      const node = this.#options.node(name)
      return node === undefined ? [] : [{ name, ...node }]
    })
  }

  /** @throws NotThere; why they could not be brought to a node; the signal's reason */
  #peopleOf(roomId: string, userId: string, signal: AbortSignal): Promise<JanusPeople> {
    const place = this.#places.get(roomId)?.get(userId)
    if (place === undefined) throw new NotThere('they are not in the room')
    return unlessAborted(place.entered, signal)
  }

  /** @throws NotThere */
  #peopleBy(session: string): JanusPeople {
    const known = this.#sessions.get(session)
    if (known === undefined) throw new NotThere('there is no such session')
    return known.people
  }

  #ended(session: string): Session | undefined {
    const known = this.#sessions.get(session)
    this.#sessions.delete(session)
    known?.release()
    return known
  }

  #out(place: Place, error: unknown): void {
    const { roomId, userId } = place.person
    if (this.#places.get(roomId)?.get(userId) !== place) return
    this.#forget(place)
    this.#options.tell({ type: 'out', roomId, userId, error })
  }

  #forget(place: Place): void {
    const { roomId, userId } = place.person
    place.leaving.abort(new NotThere('they left'))
    const room = this.#places.get(roomId)
    if (room?.get(userId) === place) room.delete(userId)
    if (room?.size === 0) this.#places.delete(roomId)
  }
}

interface NamedNode extends PeopleNode {
  name: string
}

function noFeed(feedId: string): JanusError {
  return new JanusError(janusCodes.noFeed, `nobody publishes ${feedId} in the room`)
}
