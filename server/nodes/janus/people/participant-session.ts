import { z } from 'zod'
import type { StreamSource } from '../../../../shared/media/signal.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { PagePerson } from '../../port/room-media.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { listParticipants } from '../rooms/janus-rooms.ts'
import type { HeldParticipantSession } from './media-tickets.ts'
import { JanusPublication, type TakenOffer } from './publication.ts'
import { NotThere } from './refusals.ts'
import { feedIdOf, type RoomFeeds } from './room-feeds.ts'

/** Entrance of a node for users of the room page. */
export interface PageEntrance {
  /** Returns the fields of a participant's join request, such as a token and the room's name on the node. */
  admit(person: PagePerson, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>
  /** Called when the participant has joined or failed to join. `fields` are not used again. */
  admitted(person: PagePerson, fields: Readonly<Record<string, unknown>>): void
  /** Called when the name, role or raised hand of a user changed. */
  changed(person: PagePerson): void
}

/** Opaque id in Janus's events for people who entered through the page. */
const opaqueId = 'roomdesk-person'

const joinedSchema = z.looseObject({ private_id: z.number().optional() })

interface Published {
  publication: JanusPublication
  handle: JanusHandle
}

/**
 * One person in one room, with a separate Janus session, whose end removes everything of this person. The session
 * contains a participant that publishes camera and microphone, and a second participant while the person shares a
 * screen.
 */
export class ParticipantSession {
  readonly person: PagePerson
  readonly session: JanusSession
  /** Credentials for subscriptions. */
  readonly credentials: Readonly<Record<string, unknown>>
  /** Resolves with the reason when the person is out of the room, for any cause. */
  readonly ended: Promise<string>
  readonly #participant: JanusHandle
  readonly #entrance: PageEntrance
  readonly #feeds: RoomFeeds
  readonly #published = new Map<StreamSource, Published>()
  /** Serializes publications. */
  #work: Promise<unknown> = Promise.resolve()

  private constructor(
    { person, feeds, entrance }: ParticipantSessionDependencies,
    session: JanusSession,
    participant: JanusHandle,
    { credentials, ended }: Pick<ParticipantSession, 'credentials' | 'ended'>,
  ) {
    this.person = person
    this.session = session
    this.credentials = credentials
    this.#participant = participant
    this.#entrance = entrance
    this.#feeds = feeds
    this.ended = ended
  }

  /**
   * Joins the room.
   * @throws JanusError noRoom, idTaken, roomUnauthorized; the error of `admit`; the errors of JanusSession.attach
   */
  static async join(
    dependencies: ParticipantSessionDependencies,
    session: JanusSession,
    signal: AbortSignal,
  ): Promise<ParticipantSession> {
    const { person, feeds, entrance } = dependencies
    const participant = await session.attach(videoRoom, signal, opaqueId)
    const ended = untilOut(participant, feeds)
    const { admission, data } = await join(participant, person, entrance, signal)
    const { private_id } = joinedSchema.parse(data)
    feeds.take(data)
    const credentials = { ...admission, ...(private_id === undefined ? {} : { private_id }) }
    return new ParticipantSession(dependencies, session, participant, { credentials, ended })
  }

  /**
   * Resumes the participant session of an earlier controller in its Janus session.
   * @throws NotThere if the person is no longer in the room; the errors of JanusHandle.request
   */
  static async goOn(
    dependencies: ParticipantSessionDependencies,
    session: JanusSession,
    { participant: id, credentials }: HeldParticipantSession,
    signal: AbortSignal,
  ): Promise<ParticipantSession> {
    const { person, feeds } = dependencies
    const participant = session.adopt(id, videoRoom)
    const ended = untilOut(participant, feeds)
    const listed = await listParticipants(participant, String(credentials.room ?? person.roomId), signal)
    if (!listed.some((one) => one.id === person.userId)) throw new NotThere('they are no longer in the room')
    return new ParticipantSession(dependencies, session, participant, { credentials, ended })
  }

  /** Data with which the next controller resumes the session. */
  get held(): HeldParticipantSession {
    const credentials = Object.entries(this.credentials).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [],
    )
    return {
      session: this.session.id,
      participant: this.#participant.id,
      credentials: Object.fromEntries(credentials),
    }
  }

  /**
   * Publishes a source, after ending its previous publication.
   * @param ended called once when the publication ends, for any cause
   * @throws JanusError publishersFull; the errors of JanusHandle.request
   */
  publish(
    source: StreamSource,
    offer: string,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<{ publication: JanusPublication; handle: number } & TakenOffer> {
    const work = this.#work.then(() => this.#publish(source, offer, ended, signal))
    // The caller gets the error.
    this.#work = work.catch(() => {})
    return work
  }

  /**
   * Requests a key frame of the person's camera.
   * @throws the errors of JanusHandle.request
   */
  async requestKeyFrame(signal: AbortSignal): Promise<void> {
    await this.#published.get('main')?.publication.requestKeyFrame(signal)
  }

  /**
   * Changes the display name.
   * @throws the errors of JanusHandle.request
   */
  async rename(display: string, signal: AbortSignal): Promise<void> {
    await this.#participant.request({ request: 'configure', display }, signal)
  }

  /** Leaves the room, and ends everything of this person. */
  async leave(signal: AbortSignal): Promise<void> {
    await this.session.destroy(signal)
  }

  async #publish(
    source: StreamSource,
    offer: string,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<{ publication: JanusPublication; handle: number } & TakenOffer> {
    signal.throwIfAborted()
    await this.#published.get(source)?.publication.end(signal)
    const feedId = feedIdOf(this.person.userId, source)
    const handle = source === 'main' ? this.#participant : await this.#joinScreen(feedId, signal)
    const publication = this.#publicationBy(handle, source, ended)
    const taken = await publication.begin(offer, signal)
    return { publication, handle: handle.id, ...taken }
  }

  /**
   * Resumes a publication that an earlier controller started.
   * @param offer the browser's current offer
   * @throws NotThere if the handle does not belong to this source, or the source is published already
   */
  goOnPublishing(source: StreamSource, handleId: number, offer: string, ended: () => void): JanusPublication {
    const isOwn = (source === 'main') === (handleId === this.#participant.id)
    if (!isOwn || this.#published.has(source)) throw new NotThere('they publish otherwise')
    const publication = this.#publicationBy(this.session.adopt(handleId, videoRoom), source, ended)
    publication.goOn(offer)
    return publication
  }

  #publicationBy(handle: JanusHandle, source: StreamSource, ended: () => void): JanusPublication {
    const feedId = feedIdOf(this.person.userId, source)
    const publication: JanusPublication = new JanusPublication(handle, {
      // Janus sends these events to all participants except the publisher.
      flows: ({ streams }) => this.#feeds.add(feedId, streams),
      ended: () => {
        if (this.#published.get(source)?.publication === publication) this.#published.delete(source)
        this.#feeds.remove(feedId)
        if (source === 'screen') handle.drop()
        ended()
      },
    })
    this.#published.set(source, { publication, handle })
    return publication
  }

  async #joinScreen(feedId: string, signal: AbortSignal): Promise<JanusHandle> {
    const handle = await this.session.attach(videoRoom, signal, opaqueId)
    try {
      const screen = { ...this.person, userId: feedId }
      await join(handle, screen, this.#entrance, signal)
      return handle
    } catch (error) {
      handle.drop()
      throw error
    }
  }
}

export interface ParticipantSessionDependencies {
  person: PagePerson
  entrance: PageEntrance
  feeds: RoomFeeds
}

const videoRoom: JanusPlugin = 'janus.plugin.videoroom'

/** Resolves with the reason when the participant is out of the room. Handles its events until then. */
function untilOut(participant: JanusHandle, feeds: RoomFeeds): Promise<string> {
  const ended = Promise.withResolvers<string>()
  participant.onEvent((event) => {
    // This event is also emitted when the session has ended.
    if (event.type === 'detached') ended.resolve(event.reason)
    else if (event.type !== 'plugin') return
    else if (isOut(event.data)) ended.resolve('the participant was removed from the room')
    else feeds.take(event.data)
  })
  return ended.promise
}

/** Returns whether the participant was kicked, or the room was destroyed. */
function isOut({ videoroom, leaving }: Readonly<Record<string, unknown>>): boolean {
  return videoroom === 'destroyed' || leaving === 'ok'
}

async function join(
  handle: JanusHandle,
  person: PagePerson,
  entrance: PageEntrance,
  signal: AbortSignal,
): Promise<Record<'admission' | 'data', Readonly<Record<string, unknown>>>> {
  const { roomId: room, userId: id, userName: display } = person
  const admission = await entrance.admit(person, signal)
  try {
    const request = { request: 'join', ptype: 'publisher', room, id, display, ...admission }
    const { data } = await handle.request(request, signal)
    if (data.videoroom !== 'joined') throw new NodeError('its room does not say that they joined')
    return { admission, data }
  } finally {
    entrance.admitted(person, admission)
  }
}
