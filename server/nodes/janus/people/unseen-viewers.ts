import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { KeptOpen } from '../wire/kept-open.ts'
import type { ParticipantSession } from './participant-session.ts'
import type { RoomObservers } from './room-observers.ts'
import type { Subscription } from './subscription.ts'

/** Needs of the unseen viewers of one node. */
export interface UnseenViewersOptions {
  session: () => Promise<JanusSession>
  observers: Pick<RoomObservers, 'use'>
  /** Credentials of a participant of this site in the room. */
  credentialsIn: (roomId: string) => ParticipantSession['credentials'] | undefined
}

/** Watches in a session. */
type Open = (owner: JanusSession, credentials?: ParticipantSession['credentials']) => Promise<Subscription>

const never = new AbortController().signal

/** Viewers of streams in the rooms of a node who are in none of them, such as the operator's preview. They share a session. */
export class UnseenViewers {
  readonly #options: UnseenViewersOptions
  readonly #session: KeptOpen<JanusSession>

  constructor(options: UnseenViewersOptions) {
    this.#options = options
    this.#session = new KeptOpen(options.session)
  }

  /** In which they watch. @throws as JanusSession.create; the signal's reason */
  session(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  /** Watches in the name of a participant of this site, if there is one, otherwise in nobody's; if the room requires a participant, an observer joins for that alone. */
  async watch(
    roomId: string,
    open: Open,
    signal: AbortSignal,
  ): Promise<{ subscription: Subscription; letGo: (() => void) | undefined }> {
    const { observers, credentialsIn } = this.#options
    const owner = await this.session(signal)
    try {
      return { subscription: await open(owner, credentialsIn(roomId)), letGo: undefined }
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

  /** Nobody watches any more. Never rejects. */
  async close(): Promise<void> {
    const session = await this.#session.current()
    // Janus ends it when it hears nothing for its session timeout.
    await session?.destroy(never).catch(() => {})
  }
}
