import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { KeptOpen } from '../wire/kept-open.ts'
import type { ParticipantSession } from './participant-session.ts'
import type { PeopleConnection } from './people-connection.ts'
import type { RoomPlaces } from './room-places.ts'
import type { RoomObservers } from './room-observers.ts'
import type { Subscription } from './subscription.ts'

export interface UnseenViewersOptions {
  connection: PeopleConnection
  observers: Pick<RoomObservers, 'use'>
  /** People of this site, whose credentials are used. */
  places: Pick<RoomPlaces, 'participantSessionIn'>
}

/** Opens a subscription in a session. */
type Open = (owner: JanusSession, credentials?: ParticipantSession['credentials']) => Promise<Subscription>

const never = new AbortController().signal

/**
 * Viewers of streams in rooms where they are not participants, such as the operator's preview. The viewers of a node
 * share one session.
 */
export class UnseenViewers {
  readonly #options: UnseenViewersOptions
  readonly #session: KeptOpen<JanusSession>

  constructor(options: UnseenViewersOptions) {
    const { connection } = options
    this.#options = options
    this.#session = new KeptOpen(() => connection.createSession(connection.closing))
  }

  /**
   * Returns the shared session.
   * @throws the errors of JanusSession.create; the signal's reason
   */
  session(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  /**
   * Subscribes with the credentials of a participant of this site, or without credentials if there is none. If the room
   * rejects the subscription, an observer joins the room.
   */
  async watch(
    roomId: string,
    open: Open,
    signal: AbortSignal,
  ): Promise<{ subscription: Subscription; letGo: (() => void) | undefined }> {
    const { observers, places } = this.#options
    const owner = await this.session(signal)
    try {
      return { subscription: await open(owner, places.participantSessionIn(roomId)?.credentials), letGo: undefined }
    } catch (error) {
      if (!isJanusError(error, janusCodes.roomUnauthorized)) throw error
    }
    const { participantSession, letGo } = await observers.use(roomId, signal)
    try {
      return { subscription: await open(owner, participantSession.credentials), letGo }
    } catch (error) {
      letGo()
      throw error
    }
  }

  /** Ends all subscriptions. Never rejects. */
  async close(): Promise<void> {
    const session = await this.#session.current()
    // If this fails, Janus ends the session after its session timeout.
    await session?.destroy(never).catch(() => {})
  }
}
