import { randomUUID } from 'node:crypto'
import { within } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { MediaRefusalName } from '../../../../shared/media/room-media.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { MuteRequest, RoomMedia, RoomMediaParams, RoomMediaResult, RoomPeople } from '../../port/room-media.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { PagePerson } from '../../port/room-media.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from '../wire/janus-socket.ts'
import { KeptOpen } from '../wire/kept-open.ts'
import { claimMedia, claimParticipantSession } from './claims.ts'
import { RoomFeedLists } from './room-feed-lists.ts'
import type { HeldMedia, HeldParticipantSession, MediaTicket, MediaTickets } from './media-tickets.ts'
import { JanusTransports, smallTransport, transportOf } from './janus-transports.ts'
import {
  type Admit,
  type Admitted,
  ParticipantSession,
  type ParticipantSessionDependencies,
} from './participant-session.ts'
import { NotThere, mediaRefusalOf } from './refusals.ts'
import { feedIdOf, type PublishedFeed, type RoomFeeds } from './room-feeds.ts'
import { RoomObservers } from './room-observers.ts'
import { RoomPlaces } from './room-places.ts'
import { hasOutgrown, type SmallPicture, type SmallPictures, wantsSmall } from './small-pictures.ts'
import { Subscription } from './subscription.ts'
import { UnseenViewers } from './unseen-viewers.ts'
import { videoMidOf, watchedFeed } from './watched-feed.ts'

export type { PublishedFeed } from './room-feeds.ts'

/** Events about people who entered through the page. */
export type PeopleEvent =
  /** The streams of a room changed. Emitted for rooms with a participant of this site. */
  | { type: 'feeds'; roomId: string; feeds: PublishedFeed[] }
  /** A user is no longer in the room, or could not join it, without having requested to leave. */
  | { type: 'out'; roomId: string; userId: string; error: unknown }
  /** A publication or subscription ended without a request. */
  | { type: 'over'; session: string }

export interface JanusPeopleOptions {
  socket: JanusSocketOptions
  admit: Admit
  admitted: Admitted
  /** Called when a person's name, role or raised hand changed. */
  changed: (person: PagePerson) => void
  /** Returns the name of a room on the node. Left out: its number. */
  nameOf?: (roomId: string) => string
  /**
   * Removes a participant with this id who joined earlier.
   * @throws the errors of JanusRooms.kick
   */
  clear: (roomId: string, userId: string, signal: AbortSignal) => Promise<void>
  /**
   * Mutes or unmutes a published stream.
   * @throws the errors of JanusRooms.moderate
   */
  moderate: (
    roomId: string,
    published: { userId: string; mid: string; muted: boolean },
    signal: AbortSignal,
  ) => Promise<void>
  /** Left out: media cannot be resumed after this controller ends. */
  tickets?: MediaTickets | undefined
  /** Smaller pictures, which cameras have. */
  small?: SmallPictures | undefined
  tell: (event: PeopleEvent) => void
  logger: NodeLogger
  /** Timeout of joining, publishing and watching, in milliseconds. */
  actMs?: number
  /** Time for which a hidden participant stays after the last preview, in milliseconds. */
  lingerMs?: number
}

const defaultActMs = 5_000
const never = new AbortController().signal

/**
 * People who enter the rooms of one Janus through the room page. The controller joins, publishes and subscribes on
 * their behalf; their media flows directly to and from Janus.
 */
export class JanusPeople implements RoomMedia, RoomPeople {
  readonly #options: JanusPeopleOptions
  readonly #places: RoomPlaces
  readonly #feeds = new RoomFeedLists((roomId, feeds) => this.#published(roomId, feeds))
  readonly #transports = new JanusTransports()
  readonly #closing = new AbortController()
  readonly #socket = new KeptOpen(() => JanusSocket.open(this.#options.socket, this.#closing.signal))
  readonly #observers: RoomObservers
  readonly #unseen: UnseenViewers

  constructor(options: JanusPeopleOptions) {
    this.#options = options
    const { changed, tell, logger, actMs = defaultActMs } = options
    this.#places = new RoomPlaces({
      join: (person, leaving, ticket) => this.#join(person, leaving, ticket),
      out: ({ roomId, userId }, error) => tell({ type: 'out', roomId, userId, error }),
      changed,
      emptied: (roomId) => this.#unobserved(roomId),
      logger,
      actMs,
    })
    this.#observers = new RoomObservers({
      join: (roomId) => {
        const userId = feedIdOf(`preview-${randomUUID()}`, 'screen')
        return this.#join({ roomId, userId, userName: '', role: 'member' }, never, undefined)
      },
      gone: (roomId) => this.#unobserved(roomId),
      ...(options.lingerMs === undefined ? {} : { lingerMs: options.lingerMs }),
    })
    this.#unseen = new UnseenViewers({
      session: () => this.#session(this.#closing.signal),
      observers: this.#observers,
      credentialsIn: (roomId) => this.#places.participantSessionIn(roomId)?.credentials,
    })
  }

  /** Returns the streams of a room; empty if no participant of this site is in the room. */
  feedsOf(roomId: string): PublishedFeed[] {
    return this.#feeds.list(roomId)
  }

  /**
   * Loads the streams of a room, which are then known for at least a while.
   * @throws the errors of `watch`
   */
  async look(roomId: string, signal: AbortSignal, lingers = true): Promise<void> {
    if (this.#places.participantSessionIn(roomId) !== undefined) return
    const { letGo } = await this.#observers.use(roomId, signal, lingers)
    letGo()
  }

  /** Returns a person who is in the room, or is entering it. */
  personOf(roomId: string, userId: string): PagePerson | undefined {
    return this.#places.personOf(roomId, userId)
  }

  /** Returns whether a person who entered through the room page has joined by now. */
  isHere(roomId: string, userId: string): boolean {
    return this.#places.participantSessionIn(roomId, userId) !== undefined
  }

  /** Returns whether a ticket was issued to this person for a room of this node. */
  issued(ticket: string, { roomId, userId }: Pick<PagePerson, 'roomId' | 'userId'>): boolean {
    return this.#opened(ticket, { roomId, userId }) !== undefined
  }

  /**
   * Enters a room. If the person is already in the room, updates their name, role and raised hand. A failure calls
   * `out`.
   * @param ticket see RoomMedia.enter
   */
  enter(person: PagePerson, ticket = ''): void {
    this.#places.enter(person, this.#opened(ticket, person))
  }

  /** Removes a person from a room. Resolves when they have left. */
  async leave(roomId: string, userId: string): Promise<void> {
    await this.#places.leave(roomId, userId)
  }

  /**
   * Publishes media of a person in the room.
   * @throws NodeError if they are not in the room; JanusError publishersFull; the errors of JanusHandle.request
   */
  async publish(
    { roomId, userId, source, offer }: RoomMediaParams<'publish'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'publish'>> {
    return await this.#act(signal, async (inner) => {
      const participantSession = await this.#places.participantSessionOf(roomId, userId, inner)
      const session = randomUUID()
      const { publication, answer, handle } = await participantSession.publish(
        source,
        offer,
        () => this.#over(session),
        inner,
      )
      this.#transports.add(session, transportOf(publication, handle))
      return {
        session,
        sdp: answer,
        ticket: this.#ticket(participantSession, {
          handle,
          feed: feedIdOf(userId, source),
          sends: true,
          mid: '',
          small: false,
        }),
      }
    })
  }

  /**
   * Subscribes for a person in the room, or for a hidden viewer.
   * @throws NodeError if the person is not in the room; JanusError noRoom, noFeed; the errors of JanusHandle.request
   */
  async watch(request: RoomMediaParams<'watch'>, signal: AbortSignal): Promise<RoomMediaResult<'watch'>> {
    const { roomId, userId, streamId: feedId, height } = request
    return await this.#act(signal, async (inner) => {
      const participantSession =
        userId === null ? undefined : await this.#places.participantSessionOf(roomId, userId, inner)
      const session = randomUUID()
      const room = this.#options.nameOf?.(roomId) ?? roomId
      const over = (): void => this.#over(session)
      const open = (owner: JanusSession, credentials: ParticipantSession['credentials'] = {}): Promise<Subscription> =>
        Subscription.open(owner, watchedFeed({ ...credentials, room, feed: feedId }), over, inner)
      const small = await this.#watchSmall(request, participantSession, over, inner)
      const { subscription, letGo } =
        small ??
        (participantSession === undefined
          ? await this.#unseen.watch(roomId, open, inner)
          : { subscription: await open(participantSession.session, participantSession.credentials), letGo: undefined })
      // The height takes effect with the browser's answer.
      if (height !== null) await subscription.show(height, inner)
      const { offer, handle, watched } = subscription
      const transport = smallTransport({ subscription, letGo: () => letGo?.() }, participantSession && handle)
      this.#transports.add(session, {
        ...transport,
        show: async (shown, of) => {
          if (small !== undefined && !request.small && hasOutgrown(shown)) over()
          else await subscription.show(shown, of)
        },
        watches: { roomId, feedId },
      })
      const mid = small === undefined ? (videoMidOf(watched) ?? '') : ''
      const media = { handle, feed: feedId, sends: false, mid, small: small !== undefined }
      return {
        session,
        sdp: offer,
        ticket: participantSession === undefined ? '' : this.#ticket(participantSession, media),
      }
    })
  }

  /**
   * Resumes what a person in the room published or watched under an earlier controller.
   * @throws NotThere if it has ended; the errors of JanusHandle.request
   */
  async resume(request: RoomMediaParams<'resume'>, signal: AbortSignal): Promise<RoomMediaResult<'resume'>> {
    const { roomId, userId, streamId: feedId, ticket } = request
    return await this.#act(signal, async (inner) => {
      const opened = this.#opened(ticket, request)
      const participantSession = await this.#places.participantSessionOf(roomId, userId, inner)
      if (opened?.stay.session !== participantSession.session.id)
        throw new NotThere('their participant session is another one')
      // The program of the page restarted, but this controller did not.
      const known = this.#transports.sessionOf(opened.media.handle)
      if (known !== undefined) return { session: known, sdp: '', ticket }
      const session = randomUUID()
      const over = (): void => this.#over(session)
      const room = this.#options.nameOf?.(roomId) ?? roomId
      const held = { participantSession, media: opened.media, room, isPublished: this.#feeds.of(roomId).has(feedId) }
      this.#transports.add(session, await claimMedia(held, request, this.#options.small, over, inner))
      return { session, sdp: '', ticket }
    })
  }

  /**
   * Passes the browser's answer to the offer of a subscription to Janus.
   * @throws NodeError if there is no such session; the errors of JanusHandle.request
   */
  async answer(
    { session, answer }: RoomMediaParams<'answer'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'answer'>> {
    const transport = this.#transports.get(session)
    await this.#act(signal, (inner) => transport.start?.(answer, inner) ?? Promise.resolve())
    return {}
  }

  /**
   * Passes ICE candidates of the browser to Janus.
   * @throws NodeError if there is no such session; the errors of JanusHandle.trickle
   */
  async trickle(
    { session, candidates }: RoomMediaParams<'trickle'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'trickle'>> {
    const transport = this.#transports.get(session)
    await this.#act(signal, async (inner) => {
      for (const { candidate, mid } of candidates) await transport.trickle({ candidate, sdpMid: mid }, inner)
    })
    return {}
  }

  /**
   * Restarts ICE after the browser did. Resolves to Janus's description in the new ICE session.
   * @throws NodeError if there is no such session, or the offer was not answered yet; the errors of JanusHandle.request
   */
  async restart(
    { session, ...credentials }: RoomMediaParams<'restart'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'restart'>> {
    const transport = this.#transports.get(session)
    return { sdp: await this.#act(signal, (inner) => transport.restart(credentials, inner)) }
  }

  /**
   * Sets the height at which the video of a subscription is shown, in device pixels; 0: hidden. Does nothing if there
   * is no such session.
   */
  async resize(
    { session, height }: RoomMediaParams<'resize'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'resize'>> {
    await this.#act(signal, async (inner) => await this.#transports.find(session)?.show?.(height, inner))
    return {}
  }

  /**
   * Mutes or unmutes a user's camera or microphone. Does nothing if the user publishes no such media.
   * @throws the errors of JanusRooms.moderate
   */
  async mute({ roomId, userId, kind, muted }: MuteRequest, signal: AbortSignal): Promise<void> {
    const streams = this.#feeds.find(roomId)?.streamsOf(userId) ?? []
    for (const { mid } of streams.filter((stream) => stream.kind === kind))
      await this.#options.moderate(roomId, { userId, mid, muted }, signal)
    // After an interruption, decoders need a key frame.
    if (kind === 'video' && !muted) await this.#places.participantSessionIn(roomId, userId)?.requestKeyFrame(signal)
  }

  /** Ends a publication or subscription. Idempotent. */
  async end({ session }: RoomMediaParams<'end'>): Promise<RoomMediaResult<'end'>> {
    const transport = this.#transports.take(session)
    try {
      await transport?.end(never)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'media of a Janus node could not be ended: it ends by itself')
    }
    return {}
  }

  isOpen(session: string): boolean {
    return this.#transports.find(session) !== undefined
  }

  /** Returns the name of a failure for the room page's program. */
  refusalOf(error: unknown): MediaRefusalName {
    return mediaRefusalOf(error)
  }

  /**
   * Closes the people of the node.
   * @param leave keeps people connected for the next controller; otherwise they leave
   */
  async close(leave = false): Promise<void> {
    if (leave) {
      // Clears everything first, so that releasing one participant ends no media of another.
      this.#transports.clear()
      this.#feeds.clear()
      this.#places.release()
    } else await this.#places.clear()
    await this.#observers.close()
    await this.#unseen.close()
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    const socket = await this.#socket.current()
    socket?.close()
  }

  async #join(person: PagePerson, leaving: AbortSignal, ticket: MediaTicket | undefined): Promise<ParticipantSession> {
    const { admit, admitted, clear } = this.#options
    const feeds = this.#feeds.of(person.roomId)
    return await this.#act(leaving, async (signal) => {
      const claimed = ticket && (await this.#claimed({ person, admit, admitted, feeds }, ticket.stay, signal))
      if (claimed !== undefined) return claimed
      const session = await this.#session(signal)
      try {
        const parts = { person, admit, admitted, feeds }
        return await ParticipantSession.join(parts, session, signal).catch(async (error: unknown) => {
          // The id belongs to a participant session of a previous controller, or to one whose end Janus has not
          // detected yet.
          if (!isJanusError(error, janusCodes.idTaken)) throw error
          await clear(person.roomId, person.userId, signal)
          return await ParticipantSession.join(parts, session, signal)
        })
      } catch (error) {
        session.drop()
        throw error
      }
    })
  }

  /**
   * Resumes a participant session of an earlier controller. Returns undefined if it has ended.
   * @throws the signal's reason
   */
  async #claimed(
    dependencies: ParticipantSessionDependencies,
    held: HeldParticipantSession,
    signal: AbortSignal,
  ): Promise<ParticipantSession | undefined> {
    const { roomId: room, userId: user } = dependencies.person
    try {
      return await claimParticipantSession(
        dependencies,
        held,
        await this.#socket.get(signal),
        (of) => this.look(room, of, false),
        signal,
      )
    } catch (error) {
      signal.throwIfAborted()
      this.#options.logger.debug({ err: error, room, user }, 'participant session is over: the user joins again')
      return undefined
    }
  }

  #opened(ticket: string, of: Pick<PagePerson, 'roomId' | 'userId'>): MediaTicket | undefined {
    return this.#options.tickets?.open(ticket, of)
  }

  #ticket({ person, held }: ParticipantSession, media: HeldMedia): string {
    return this.#options.tickets?.seal({ room: person.roomId, user: person.userId, stay: held, media }) ?? ''
  }

  /** Without an observer or participant, the streams of the room become unknown. */
  #unobserved(roomId: string): void {
    if (!this.#places.isOccupied(roomId) && !this.#observers.has(roomId)) this.#feeds.forget(roomId)
  }

  #published(roomId: string, feeds: RoomFeeds): void {
    for (const session of [...this.#transports.without(roomId, (feedId) => feeds.has(feedId))]) this.#over(session)
    this.#options.tell({ type: 'feeds', roomId, feeds: feeds.list })
  }

  /** Ends media that ended on the node without a request, and reports it. */
  #over(session: string): void {
    if (this.#transports.find(session) === undefined) return
    mustNotFail(this.end({ session }))
    this.#options.tell({ type: 'over', session })
  }

  async #watchSmall(
    request: RoomMediaParams<'watch'>,
    participantSession: ParticipantSession | undefined,
    over: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined> {
    const { small } = this.#options
    if (small === undefined || !wantsSmall(request)) return undefined
    const owner = participantSession?.session ?? (await this.#unseen.session(signal))
    return await small.open({ roomId: request.roomId, userId: request.streamId }, owner, over, signal)
  }

  async #session(signal: AbortSignal): Promise<JanusSession> {
    return await JanusSession.create(await this.#socket.get(signal), signal)
  }

  #act<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const milliseconds = this.#options.actMs ?? defaultActMs
    return within({ milliseconds, signal: AbortSignal.any([signal, this.#closing.signal]) }, run)
  }
}
