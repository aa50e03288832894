import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { ParticipantSession } from './participant-session.ts'
import { KeptOpen, type PeopleConnection } from './people-connection.ts'
import type { RoomPlaces } from './room-places.ts'
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

interface RoomObserversOptions {
  /** Joins a hidden participant, which publishes nothing. */
  join: (roomId: string) => Promise<ParticipantSession>
  /** Called when an observer has left. */
  gone: (roomId: string) => void
  /**
   * Time for which an observer stays after its last use, in milliseconds. Another look or preview usually follows soon,
   * or not at all.
   */
  lingerMs?: number
}

interface Observer {
  participantSession: Promise<ParticipantSession>
  uses: number
  timer: NodeJS.Timeout | undefined
}

const defaultLingerMs = 15_000

/**
 * Hidden participants, at most one per room. They provide the streams of rooms without another participant of this
 * site.
 */
export class RoomObservers {
  readonly #options: RoomObserversOptions
  readonly #observers = new Map<string, Observer>()

  constructor(options: RoomObserversOptions) {
    this.#options = options
  }

  has(roomId: string): boolean {
    return this.#observers.has(roomId)
  }

  /**
   * Keeps an observer in the room until `letGo` is called and the observer has no other use.
   * @param lingers whether another use may follow soon, so that an unused observer stays for `lingerMs`
   * @throws the error of joining; the signal's reason
   */
  async use(
    roomId: string,
    signal: AbortSignal,
    lingers = true,
  ): Promise<{ participantSession: ParticipantSession; letGo: () => void }> {
    const observer = this.#observers.get(roomId) ?? this.#begin(roomId)
    observer.uses += 1
    clearTimeout(observer.timer)
    let used = true
    const letGo = (): void => {
      if (!used) return
      used = false
      observer.uses -= 1
      this.#endLater(roomId, observer, lingers)
    }
    try {
      return { participantSession: await unlessAborted(observer.participantSession, signal), letGo }
    } catch (error) {
      letGo()
      throw error
    }
  }

  async close(): Promise<void> {
    const observers = [...this.#observers]
    await Promise.all(observers.map(([roomId, observer]) => this.#end(roomId, observer)))
  }

  #begin(roomId: string): Observer {
    const observer: Observer = { participantSession: this.#options.join(roomId), uses: 0, timer: undefined }
    this.#observers.set(roomId, observer)
    const forget = (): void => this.#forget(roomId, observer)
    observer.participantSession.then((participantSession) => participantSession.ended.then(forget), forget)
    return observer
  }

  #endLater(roomId: string, observer: Observer, lingers: boolean): void {
    if (observer.uses > 0 || this.#observers.get(roomId) !== observer) return
    const { lingerMs = defaultLingerMs } = this.#options
    observer.timer = setTimeout(() => mustNotFail(this.#end(roomId, observer)), lingers ? lingerMs : 0)
    observer.timer.unref()
  }

  async #end(roomId: string, observer: Observer): Promise<void> {
    this.#forget(roomId, observer)
    // If the session cannot be ended, it expires on Janus.
    await observer.participantSession.then((participantSession) => participantSession.leave(never)).catch(() => {})
  }

  #forget(roomId: string, observer: Observer): void {
    clearTimeout(observer.timer)
    if (this.#observers.get(roomId) !== observer) return
    this.#observers.delete(roomId)
    this.#options.gone(roomId)
  }
}
