import type { MediaRefusalName } from '../../../../shared/media/room-media.ts'
import type {
  MuteRequest,
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
import type { JanusPeople } from '../people/janus-people.ts'
import type { PeopleEvent, PeopleMedia } from '../people/people-media.ts'
import { NotThere, mediaRefusalOf } from '../people/refusals.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import type { RelayIds } from './relay-participants.ts'
import type { Relays } from './relays.ts'

/** A Janus node in service, in its role for people of the room page. */
interface PeopleNode {
  people: JanusPeople
  /** Ids of the relay participants on the node. */
  ids: RelayIds
}

export interface RelayedMediaOptions {
  /** Returns the names of the nodes that hold a room, the primary node first. */
  nodesOf: (roomId: string) => readonly string[]
  /** Returns a node by its name; undefined if the node is not in service. */
  node: (name: string) => PeopleNode | undefined
  /**
   * Chooses the node for a person who enters a room. Resolves when that node holds the room.
   * @throws the reason why no node is available
   */
  choose: (roomId: string, signal: AbortSignal) => Promise<string>
  /** Called when a connection to a node was lost, because the node may be offline. */
  unsure: (node: string) => void
  relays: Pick<Relays, 'watch' | 'feedsOf' | 'originOf' | 'sees'>
  tell: (event: RoomMediaEvent) => void
  logger: NodeLogger
}

/** A person who is in a room, or is entering it. */
interface Place {
  person: PagePerson
  leaving: AbortController
  /** People of the person's node; rejects if no node is available. */
  entered: Promise<JanusPeople>
  /** Node of the person; undefined until a node is assigned. */
  node: NamedNode | undefined
}

/** A publication or subscription. */
interface Session {
  people: JanusPeople
  /** Releases the demand for the relayed stream. */
  release: () => void
}

/**
 * The media of rooms on Janus nodes for people of the room page, including rooms on several nodes. Each person
 * publishes and watches on one node; streams from other nodes are relayed to that node.
 */
export class RelayedMedia implements RoomMedia, RoomPeople {
  readonly #options: RelayedMediaOptions
  /** Places by room and user. */
  readonly #places = new Map<string, Map<string, Place>>()
  readonly #sessions = new Map<string, Session>()

  constructor(options: RelayedMediaOptions) {
    this.#options = options
  }

  /** Rooms with a person in them, or a person about to enter. */
  get rooms(): string[] {
    return [...this.#places.keys()]
  }

  /** Returns whether a user entered through the room page. */
  has(roomId: string, userId: string): boolean {
    return this.#places.get(roomId)?.has(userId) === true
  }

  enter(person: PagePerson, ticket = ''): void {
    const { roomId, userId } = person
    const room = this.#places.get(roomId) ?? new Map<string, Place>()
    const known = room.get(userId)
    if (known !== undefined) {
      // The person's data may have changed.
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
    await place.node?.people.places.leave(roomId, userId)
  }

  async publish(request: RoomMediaParams<'publish'>, signal: AbortSignal): Promise<RoomMediaResult<'publish'>> {
    const people = await this.#peopleOf(request.roomId, request.userId, signal)
    const published = await people.media.publish(request, signal)
    this.#sessions.set(published.session, { people, release: () => {} })
    return published
  }

  async watch(request: RoomMediaParams<'watch'>, signal: AbortSignal): Promise<RoomMediaResult<'watch'>> {
    const { roomId, userId, streamId: feedId } = request
    if (userId === null) return await this.#watchOn(this.#publishing(roomId, feedId), request, signal)
    const people = await this.#peopleOf(roomId, userId, signal)
    const nodes = this.#nodesOf(roomId)
    const own = nodes.find((node) => node.people === people)
    const isHere = nodes.length === 1 || people.feeds.list(roomId).some((feed) => feed.feedId === feedId)
    if (own === undefined || isHere) return await this.#watchOn(people, request, signal)
    return await this.#watchRelayed(own, request, signal)
  }

  /** Resumes media on the person's node. A stream that comes from another node is relayed to the person's node. */
  async resume(request: RoomMediaParams<'resume'>, signal: AbortSignal): Promise<RoomMediaResult<'resume'>> {
    const { roomId, userId, streamId: feedId, sends } = request
    const people = await this.#peopleOf(roomId, userId, signal)
    const nodes = this.#nodesOf(roomId)
    const own = nodes.find((node) => node.people === people)
    const isHere = sends || nodes.length === 1 || people.feeds.list(roomId).some((feed) => feed.feedId === feedId)
    const relayed = own === undefined || isHere ? undefined : this.#options.relays.watch(roomId, feedId, own.name)
    try {
      const streamId = relayed === undefined ? feedId : await relayed.feed(signal)
      const resumed = await people.media.resume({ ...request, streamId }, signal)
      this.#ended(resumed.session)
      this.#sessions.set(resumed.session, { people, release: () => relayed?.end() })
      return resumed
    } catch (error) {
      relayed?.end()
      throw error
    }
  }

  async answer(params: RoomMediaParams<'answer'>, signal: AbortSignal): Promise<RoomMediaResult<'answer'>> {
    return await this.#mediaBy(params.session).answer(params, signal)
  }

  async trickle(params: RoomMediaParams<'trickle'>, signal: AbortSignal): Promise<RoomMediaResult<'trickle'>> {
    return await this.#mediaBy(params.session).trickle(params, signal)
  }

  async restart(params: RoomMediaParams<'restart'>, signal: AbortSignal): Promise<RoomMediaResult<'restart'>> {
    return await this.#mediaBy(params.session).restart(params, signal)
  }

  /** Mutes on the node where the stream is published. Relays pass the muted stream on unchanged. */
  async mute(request: MuteRequest, signal: AbortSignal): Promise<void> {
    const { roomId, userId } = request
    if (!this.feedsOf(roomId).some((feed) => feed.feedId === userId)) return
    const people = this.#publishing(roomId, userId)
    // The media to mute is identified by the node's list of streams.
    await people.look(roomId, signal)
    await people.mute(request, signal)
  }

  async resize(params: RoomMediaParams<'resize'>, signal: AbortSignal): Promise<RoomMediaResult<'resize'>> {
    return (await this.#sessions.get(params.session)?.people.media.resize(params, signal)) ?? {}
  }

  async end(params: RoomMediaParams<'end'>): Promise<RoomMediaResult<'end'>> {
    return (await this.#ended(params.session)?.people.media.end(params)) ?? {}
  }

  async look(roomId: string, signal: AbortSignal): Promise<void> {
    const nodes = this.#nodesOf(roomId)
    const unseen = nodes.filter(({ name }) => nodes.length === 1 || !this.#options.relays.sees(roomId, name))
    await Promise.all(unseen.map(({ people }) => people.look(roomId, signal)))
  }

  /** Returns the streams on all nodes of the room, without relayed copies. */
  feedsOf(roomId: string): PublishedFeed[] {
    const nodes = this.#nodesOf(roomId)
    const feeds = nodes.flatMap(({ people, ids }) => people.feeds.list(roomId).filter(({ feedId }) => !ids.has(feedId)))
    const relayed = nodes.length > 1 ? this.#options.relays.feedsOf(roomId) : []
    return [...new Map([...relayed, ...feeds].map((feed) => [feed.feedId, feed])).values()]
  }

  isOpen(session: string): boolean {
    return this.#sessions.has(session)
  }

  refusalOf(error: unknown): MediaRefusalName {
    return mediaRefusalOf(error)
  }

  /** Handles an event from the people of a node. */
  onPeopleEvent(people: JanusPeople, event: PeopleEvent): void {
    if (event.type === 'feeds') return this.#options.tell({ type: 'feeds', roomId: event.roomId })
    if (event.type === 'over') {
      if (this.#ended(event.session) !== undefined) this.#options.tell(event)
      return
    }
    const place = this.#places.get(event.roomId)?.get(event.userId)
    // A user who meanwhile moved to another node has not left.
    if (place?.node?.people !== people) return
    this.#options.unsure(place.node.name)
    this.#out(place, event.error)
  }

  /**
   * Handles a change of the nodes of a room. A person on a node that no longer holds the room is out, and may enter on
   * another node.
   */
  review(roomId: string): void {
    const known = new Set(this.#nodesOf(roomId).map(({ people }) => people))
    for (const place of [...(this.#places.get(roomId)?.values() ?? [])]) {
      const people = place.node?.people
      if (people === undefined || known.has(people)) continue
      this.#out(place, new NodeError('the room is no longer on their node'))
      people.places.leave(roomId, place.person.userId).catch((error: unknown) => {
        this.#options.logger.debug({ room: roomId, err: error }, 'could not remove a user who left from a node')
      })
    }
    this.#options.tell({ type: 'feeds', roomId })
  }

  /** Returns the node that issued the person's ticket. Without a valid ticket, a node is chosen. */
  async #nodeFor(person: PagePerson, ticket: string, signal: AbortSignal): Promise<NamedNode> {
    const { roomId } = person
    const before = this.#nodesOf(roomId).find(({ people }) => people.issued(ticket, person))
    if (before !== undefined) return before
    const name = await this.#options.choose(roomId, signal)
    const node = this.#options.node(name)
    if (node === undefined) throw new NodeError(`the node ${name} is not in service`)
    return { name, ...node }
  }

  /** Watches a stream of another node through a relay to the person's node. */
  async #watchRelayed(
    { name, people }: NamedNode,
    request: RoomMediaParams<'watch'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'watch'>> {
    const { roomId, streamId: feedId } = request
    if (!this.feedsOf(roomId).some((feed) => feed.feedId === feedId)) throw noFeed(feedId)
    const relayed = this.#options.relays.watch(roomId, feedId, name)
    try {
      const streamId = await relayed.feed(signal)
      return await this.#watchOn(people, { ...request, streamId }, signal, () => relayed.end())
    } catch (error) {
      relayed.end()
      throw error
    }
  }

  async #watchOn(
    people: JanusPeople,
    request: RoomMediaParams<'watch'>,
    signal: AbortSignal,
    release = (): void => {},
  ): Promise<RoomMediaResult<'watch'>> {
    const watched = await people.media.watch(request, signal)
    this.#sessions.set(watched.session, { people, release })
    return watched
  }

  /**
   * Returns the people of the node on which a stream is published.
   * @throws JanusError noRoom, noFeed
   */
  #publishing(roomId: string, feedId: string): JanusPeople {
    const nodes = this.#nodesOf(roomId)
    const [first] = nodes
    if (first === undefined) throw new JanusError(janusCodes.noRoom, 'the room is on no node')
    if (nodes.length === 1) return first.people
    const origin = this.#options.relays.originOf(roomId, feedId)
    const node =
      nodes.find(({ name }) => name === origin) ??
      nodes.find(({ people }) => people.feeds.list(roomId).some((feed) => feed.feedId === feedId))
    if (node === undefined) throw noFeed(feedId)
    return node.people
  }

  #nodesOf(roomId: string): NamedNode[] {
    return this.#options.nodesOf(roomId).flatMap((name) => {
      const node = this.#options.node(name)
      return node === undefined ? [] : [{ name, ...node }]
    })
  }

  /**
   * Returns the people of the user's node.
   * @throws NotThere; the reason why no node could be assigned; the signal's reason
   */
  #peopleOf(roomId: string, userId: string, signal: AbortSignal): Promise<JanusPeople> {
    const place = this.#places.get(roomId)?.get(userId)
    if (place === undefined) throw new NotThere('they are not in the room')
    return unlessAborted(place.entered, signal)
  }

  /**
   * Returns the media of the node that has this session.
   * @throws NotThere
   */
  #mediaBy(session: string): PeopleMedia {
    const known = this.#sessions.get(session)
    if (known === undefined) throw new NotThere('there is no such session')
    return known.people.media
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
