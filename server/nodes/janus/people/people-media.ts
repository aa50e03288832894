import { randomUUID } from 'node:crypto'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { RoomMedia, RoomMediaParams, RoomMediaResult } from '../../port/room-media.ts'
import type { JanusRooms } from '../rooms/janus-rooms.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { claimMedia } from './claims.ts'
import { JanusTransports, smallTransport, transportOf } from './janus-transports.ts'
import type { HeldMedia, MediaTickets } from './media-tickets.ts'
import type { ParticipantSession } from './participant-session.ts'
import type { PeopleConnection } from './people-connection.ts'
import { NotThere } from './refusals.ts'
import { feedIdOf, type PublishedFeed, type RoomFeedLists, type RoomFeeds } from './room-feeds.ts'
import type { RoomPlaces } from './room-places.ts'
import { hasOutgrown, type SmallPicture, type SmallPictures, wantsSmall } from './small-pictures.ts'
import { Subscription, videoMidOf, watchedFeed } from './subscription.ts'
import type { UnseenViewers } from './unseen-viewers.ts'

/** Events about people who entered through the page. */
export type PeopleEvent =
  /** The streams of a room changed. Emitted for rooms with a participant of this site. */
  | { type: 'feeds'; roomId: string; feeds: PublishedFeed[] }
  /** A user left the room without a request, or could not join it. */
  | { type: 'out'; roomId: string; userId: string; error: unknown }
  /** A publication or subscription ended without a request. */
  | { type: 'over'; session: string }

export interface PeopleMediaOptions {
  connection: PeopleConnection
  rooms: Pick<JanusRooms, 'nameOf'>
  places: RoomPlaces
  feeds: RoomFeedLists
  unseen: UnseenViewers
  /** Tickets with which the next controller resumes media; left out: resuming is impossible. */
  tickets?: MediaTickets | undefined
  /** Smaller pictures of cameras; undefined: none. */
  small?: SmallPictures | undefined
  tell: (event: PeopleEvent) => void
  logger: NodeLogger
}

const never = new AbortController().signal

/** Publications and subscriptions of the people of one Janus who entered through the room page. */
export class PeopleMedia implements RoomMedia {
  readonly #options: PeopleMediaOptions
  readonly #connection: PeopleConnection
  readonly #transports = new JanusTransports()

  constructor(options: PeopleMediaOptions) {
    this.#options = options
    this.#connection = options.connection
  }

  /**
   * Publishes media of a person in the room.
   * @throws NodeError if the person is not in the room; JanusError publishersFull; the errors of JanusHandle.request
   */
  async publish(
    { roomId, userId, source, offer }: RoomMediaParams<'publish'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'publish'>> {
    return await this.#connection.act(signal, async (inner) => {
      const participantSession = await this.#options.places.participantSessionOf(roomId, userId, inner)
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
    return await this.#connection.act(signal, async (inner) => {
      const participantSession =
        userId === null ? undefined : await this.#options.places.participantSessionOf(roomId, userId, inner)
      const session = randomUUID()
      const room = this.#options.rooms.nameOf(roomId)
      const over = (): void => this.#over(session)
      const open = (owner: JanusSession, credentials: ParticipantSession['credentials'] = {}): Promise<Subscription> =>
        Subscription.open(owner, watchedFeed({ ...credentials, room, feed: feedId }), over, inner)
      const small = await this.#watchSmall(request, participantSession, over, inner)
      const { subscription, letGo } =
        small ??
        (participantSession === undefined
          ? await this.#options.unseen.watch(roomId, open, inner)
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
   * @throws NotThere if the media has ended; the errors of JanusHandle.request
   */
  async resume(request: RoomMediaParams<'resume'>, signal: AbortSignal): Promise<RoomMediaResult<'resume'>> {
    const { roomId, userId, streamId: feedId, ticket } = request
    return await this.#connection.act(signal, async (inner) => {
      const opened = this.#options.tickets?.open(ticket, request)
      const participantSession = await this.#options.places.participantSessionOf(roomId, userId, inner)
      if (opened?.stay.session !== participantSession.session.id)
        throw new NotThere('their participant session is another one')
      // The program of the page restarted, but this controller did not.
      const known = this.#transports.sessionOf(opened.media.handle)
      if (known !== undefined) return { session: known, sdp: '', ticket }
      const session = randomUUID()
      const over = (): void => this.#over(session)
      const room = this.#options.rooms.nameOf(roomId)
      const held = {
        participantSession,
        media: opened.media,
        room,
        isPublished: this.#options.feeds.of(roomId).has(feedId),
      }
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
    await this.#connection.act(signal, (inner) => transport.start?.(answer, inner) ?? Promise.resolve())
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
    await this.#connection.act(signal, async (inner) => {
      for (const { candidate, mid } of candidates) await transport.trickle({ candidate, sdpMid: mid }, inner)
    })
    return {}
  }

  /**
   * Restarts ICE on Janus after the browser has restarted ICE. Resolves to Janus's description in the new ICE session.
   * @throws NodeError if there is no such session, or the offer was not answered yet; the errors of JanusHandle.request
   */
  async restart(
    { session, ...credentials }: RoomMediaParams<'restart'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'restart'>> {
    const transport = this.#transports.get(session)
    return { sdp: await this.#connection.act(signal, (inner) => transport.restart(credentials, inner)) }
  }

  /**
   * Sets the height at which the video of a subscription is shown, in device pixels; 0: hidden. Does nothing if there
   * is no such session.
   */
  async resize(
    { session, height }: RoomMediaParams<'resize'>,
    signal: AbortSignal,
  ): Promise<RoomMediaResult<'resize'>> {
    await this.#connection.act(signal, async (inner) => await this.#transports.find(session)?.show?.(height, inner))
    return {}
  }

  /** Ends a publication or subscription. Idempotent. */
  async end({ session }: RoomMediaParams<'end'>): Promise<RoomMediaResult<'end'>> {
    const transport = this.#transports.take(session)
    try {
      await transport?.end(never)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not end media of a Janus node: it will expire')
    }
    return {}
  }

  isOpen(session: string): boolean {
    return this.#transports.find(session) !== undefined
  }

  /** Ends subscriptions whose stream is no longer published, and reports the streams of the room. */
  onPublished(roomId: string, feeds: RoomFeeds): void {
    for (const session of [...this.#transports.without(roomId, (feedId) => feeds.has(feedId))]) this.#over(session)
    this.#options.tell({ type: 'feeds', roomId, feeds: feeds.list })
  }

  /** Drops all sessions without ending them on the node. */
  release(): void {
    this.#transports.clear()
  }

  #ticket({ person, held }: ParticipantSession, media: HeldMedia): string {
    return this.#options.tickets?.seal({ room: person.roomId, user: person.userId, stay: held, media }) ?? ''
  }

  /** Ends a session without a request of its user, and reports the end. */
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
    const owner = participantSession?.session ?? (await this.#options.unseen.session(signal))
    return await small.open({ roomId: request.roomId, userId: request.streamId }, owner, over, signal)
  }
}
