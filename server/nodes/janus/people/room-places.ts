import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { NodeError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { MediaTicket } from './media-tickets.ts'
import type { PagePerson } from '../../port/room-media.ts'
import type { ParticipantSession } from './participant-session.ts'
import { NotThere } from './refusals.ts'

export interface RoomPlacesOptions {
  /**
   * Joins a user to their room, unless the signal aborts. If `ticket` belongs to a participant session that still
   * exists, that session is resumed.
   */
  join: (person: PagePerson, leaving: AbortSignal, ticket: MediaTicket | undefined) => Promise<ParticipantSession>
  /** Called when a user is no longer in the room, or could not join it, without having requested to leave. */
  out: (person: PagePerson, error: unknown) => void
  /** Called when the name, role or raised hand of a user changed. */
  changed: (person: PagePerson) => void
  /** Called when the last person has left the room. */
  emptied: (roomId: string) => void
  logger: NodeLogger
  /** Timeout of a request, in milliseconds. */
  actMs: number
}

/** A person who is in a room, or is entering it. */
interface Place {
  person: PagePerson
  joining: Promise<ParticipantSession>
  participantSession: ParticipantSession | undefined
  leaving: AbortController
}

const never = new AbortController().signal

/** People who entered through the page, in their rooms on one node. */
export class RoomPlaces {
  readonly #options: RoomPlacesOptions
  /** Places by room and user. */
  readonly #places = new Map<string, Map<string, Place>>()

  constructor(options: RoomPlacesOptions) {
    this.#options = options
  }

  /** Returns whether a person is in the room, or is entering it. */
  isOccupied(roomId: string): boolean {
    return this.#places.has(roomId)
  }

  /** Returns a person who is in the room, or is entering it. */
  personOf(roomId: string, userId: string): PagePerson | undefined {
    return this.#places.get(roomId)?.get(userId)?.person
  }

  /**
   * Returns the participant session of a user who has joined.
   * @param userId left out: any user
   */
  participantSessionIn(roomId: string, userId?: string): ParticipantSession | undefined {
    const room = this.#places.get(roomId)
    if (userId !== undefined) return room?.get(userId)?.participantSession
    for (const { participantSession } of room?.values() ?? [])
      if (participantSession !== undefined) return participantSession
    return undefined
  }

  /**
   * Returns the participant session of a user, and waits until they have joined.
   * @throws NotThere if the user is not entering; the error of joining; the signal's reason
   */
  async participantSessionOf(roomId: string, userId: string, signal: AbortSignal): Promise<ParticipantSession> {
    const place = this.#places.get(roomId)?.get(userId)
    if (place === undefined) throw new NotThere('they are not in the room')
    return await unlessAborted(place.joining, signal)
  }

  /** Enters a room. If the person is already in the room, updates their data. */
  enter(person: PagePerson, ticket: MediaTicket | undefined): void {
    const { roomId, userId } = person
    const present = this.#places.get(roomId)?.get(userId)
    if (present !== undefined) return this.#change(present, person)
    const room = this.#places.get(roomId) ?? new Map<string, Place>()
    this.#places.set(roomId, room)
    const leaving = new AbortController()
    const joining = this.#options.join(person, leaving.signal, ticket)
    const place: Place = { person, joining, participantSession: undefined, leaving }
    room.set(userId, place)
    place.joining.then(
      (participantSession) => this.#joined(place, participantSession),
      (error: unknown) => this.#out(place, error),
    )
  }

  /** Removes a person. Resolves when they have left. */
  async leave(roomId: string, userId: string): Promise<void> {
    const place = this.#places.get(roomId)?.get(userId)
    if (place === undefined) return
    this.#forget(place)
    place.leaving.abort(new NodeError('they left'))
    try {
      await (await place.joining).leave(never)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not remove a user who left a room from its Janus node')
    }
  }

  /** Drops all places, but keeps the people connected for the next controller. */
  release(): void {
    const places = [...this.#places.values()].flatMap((room) => [...room.values()])
    this.#places.clear()
    for (const { participantSession } of places) participantSession?.session.release()
  }

  /** Removes everyone. */
  async clear(): Promise<void> {
    const places = [...this.#places.values()].flatMap((room) => [...room.values()])
    await Promise.all(places.map(({ person }) => this.leave(person.roomId, person.userId)))
  }

  #change(place: Place, person: PagePerson): void {
    const { userName, role, hand = 0 } = place.person
    if (userName === person.userName && role === person.role && hand === (person.hand ?? 0)) return
    place.person = person
    this.#rename(place, userName).then(
      () => this.#options.changed(person),
      (error: unknown) => this.#options.logger.debug({ err: error }, 'could not rename a user'),
    )
  }

  async #rename({ joining, person }: Place, before: string): Promise<void> {
    if (person.userName === before) return
    await (await joining).rename(person.userName, AbortSignal.timeout(this.#options.actMs))
  }

  #joined(place: Place, participantSession: ParticipantSession): void {
    place.participantSession = participantSession
    const ended = participantSession.ended.then((why) => {
      // Ends what remains of the session.
      participantSession.leave(never).catch(() => {})
      this.#out(place, new NodeError(why))
    })
    mustNotFail(ended)
  }

  #out(place: Place, error: unknown): void {
    if (this.#forget(place)) this.#options.out(place.person, error)
  }

  /** @returns whether the place was still registered */
  #forget(place: Place): boolean {
    const { roomId, userId } = place.person
    const room = this.#places.get(roomId)
    if (room?.get(userId) !== place) return false
    room.delete(userId)
    if (room.size > 0) return true
    this.#places.delete(roomId)
    this.#options.emptied(roomId)
    return true
  }
}
