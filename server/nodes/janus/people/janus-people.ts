import { randomUUID } from 'node:crypto'
import type { MuteRequest, PagePerson } from '../../port/room-media.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusRooms } from '../rooms/janus-rooms.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSocketOptions } from '../wire/janus-socket.ts'
import { claimParticipantSession } from './claims.ts'
import type { HeldParticipantSession, MediaTicket, MediaTickets } from './media-tickets.ts'
import { type PageEntrance, ParticipantSession, type ParticipantSessionDependencies } from './participant-session.ts'
import { PeopleConnection } from './people-connection.ts'
import { type PeopleEvent, PeopleMedia } from './people-media.ts'
import { feedIdOf, RoomFeedLists } from './room-feeds.ts'
import { RoomPlaces } from './room-places.ts'
import type { SmallPictures } from './small-pictures.ts'
import { RoomObservers, UnseenViewers } from './unseen-viewers.ts'

export interface JanusPeopleOptions {
  socket: JanusSocketOptions
  entrance: PageEntrance
  rooms: Pick<JanusRooms, 'nameOf' | 'kick' | 'moderate'>
  /** Tickets with which the next controller resumes media; left out: resuming is impossible. */
  tickets?: MediaTickets | undefined
  /** Smaller pictures of cameras; undefined: none. */
  small?: SmallPictures | undefined
  tell: (event: PeopleEvent) => void
  logger: NodeLogger
  /** Timeout of joining, publishing and watching, in milliseconds. */
  actMs?: number
  /** Time for which a hidden participant stays after the last preview, in milliseconds. */
  lingerMs?: number
}

const never = new AbortController().signal

/**
 * People who enter the rooms of one Janus through the room page. The controller joins, publishes and subscribes on
 * their behalf; their media flows directly to and from Janus.
 */
export class JanusPeople {
  /** The people, by room. */
  readonly places: RoomPlaces
  readonly feeds: RoomFeedLists
  readonly media: PeopleMedia
  readonly #options: JanusPeopleOptions
  readonly #connection: PeopleConnection
  readonly #observers: RoomObservers
  readonly #unseen: UnseenViewers

  constructor(options: JanusPeopleOptions) {
    this.#options = options
    const { socket, entrance, rooms, tickets, small, tell, logger, actMs, lingerMs } = options
    const connection = new PeopleConnection(socket, actMs)
    this.#connection = connection
    const places = new RoomPlaces({
      join: (person, leaving, ticket) => this.#join(person, leaving, ticket),
      out: ({ roomId, userId }, error) => tell({ type: 'out', roomId, userId, error }),
      changed: (person) => entrance.changed(person),
      emptied: (roomId) => this.#unobserved(roomId),
      logger,
      actMs: connection.actMs,
    })
    this.places = places
    this.#observers = new RoomObservers({
      join: (roomId) => {
        const userId = feedIdOf(`preview-${randomUUID()}`, 'screen')
        return this.#join({ roomId, userId, userName: '', role: 'member' }, never, undefined)
      },
      gone: (roomId) => this.#unobserved(roomId),
      ...(lingerMs === undefined ? {} : { lingerMs }),
    })
    this.#unseen = new UnseenViewers({ connection, observers: this.#observers, places })
    this.feeds = new RoomFeedLists((roomId, published) => this.media.onPublished(roomId, published))
    const { feeds } = this
    const unseen = this.#unseen
    this.media = new PeopleMedia({ connection, rooms, places, feeds, unseen, tickets, small, tell, logger })
  }

  /**
   * Loads the streams of a room. If `lingers` is set, the list stays current for a while afterwards.
   * @throws the error of joining as a hidden participant; the signal's reason
   */
  async look(roomId: string, signal: AbortSignal, lingers = true): Promise<void> {
    if (this.places.participantSessionIn(roomId) !== undefined) return
    const { letGo } = await this.#observers.use(roomId, signal, lingers)
    letGo()
  }

  /** Returns whether a person who entered through the room page has joined by now. */
  isHere(roomId: string, userId: string): boolean {
    return this.places.participantSessionIn(roomId, userId) !== undefined
  }

  /** Returns whether a ticket was issued to this person for a room of this node. */
  issued(ticket: string, { roomId, userId }: Pick<PagePerson, 'roomId' | 'userId'>): boolean {
    return this.#options.tickets?.open(ticket, { roomId, userId }) !== undefined
  }

  /**
   * Enters a room. If the person is already in the room, updates their name, role and raised hand. A failure calls
   * `out`.
   * @param ticket see RoomPeople.enter
   */
  enter(person: PagePerson, ticket = ''): void {
    this.places.enter(person, this.#options.tickets?.open(ticket, person))
  }

  /**
   * Mutes or unmutes a user's camera or microphone. Does nothing if the user publishes no such media.
   * @throws the errors of JanusRooms.moderate
   */
  async mute({ roomId, userId, kind, muted }: MuteRequest, signal: AbortSignal): Promise<void> {
    const streams = this.feeds.find(roomId)?.streamsOf(userId) ?? []
    for (const { mid } of streams.filter((stream) => stream.kind === kind))
      await this.#options.rooms.moderate(roomId, { userId, mid, muted }, signal)
    // After an interruption, decoders need a key frame.
    if (kind === 'video' && !muted) await this.places.participantSessionIn(roomId, userId)?.requestKeyFrame(signal)
  }

  /**
   * Ends the controller's connections for the people of the node.
   * @param leave whether people stay connected for the next controller; false: they leave their rooms
   */
  async close(leave = false): Promise<void> {
    if (leave) {
      // Clears everything first, so that releasing one participant ends no media of another participant.
      this.media.release()
      this.feeds.clear()
      this.places.release()
    } else await this.places.clear()
    await this.#observers.close()
    await this.#unseen.close()
    await this.#connection.close()
  }

  async #join(person: PagePerson, leaving: AbortSignal, ticket: MediaTicket | undefined): Promise<ParticipantSession> {
    const { entrance, rooms } = this.#options
    const dependencies = { person, entrance, feeds: this.feeds.of(person.roomId) }
    return await this.#connection.act(leaving, async (signal) => {
      const claimed = ticket && (await this.#claimed(dependencies, ticket.stay, signal))
      if (claimed !== undefined) return claimed
      const session = await this.#connection.createSession(signal)
      try {
        return await ParticipantSession.join(dependencies, session, signal).catch(async (error: unknown) => {
          // The id belongs to a participant session of a previous controller, or to a session whose end Janus has not
          // detected yet.
          if (!isJanusError(error, janusCodes.idTaken)) throw error
          await rooms.kick(person.roomId, person.userId, signal)
          return await ParticipantSession.join(dependencies, session, signal)
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
        await this.#connection.socket.get(signal),
        (of) => this.look(room, of, false),
        signal,
      )
    } catch (error) {
      signal.throwIfAborted()
      this.#options.logger.debug({ err: error, room, user }, 'participant session has ended: the user joins again')
      return undefined
    }
  }

  /** Drops the streams of the room if there is neither an observer nor a participant to report changes. */
  #unobserved(roomId: string): void {
    if (!this.places.isOccupied(roomId) && !this.#observers.has(roomId)) this.feeds.forget(roomId)
  }
}
