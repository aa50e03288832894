import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { ParticipantSession } from './participant-session.ts'

/** Needs of observers. */
export interface RoomObserversOptions {
  /** Joins a participant who publishes nothing and is nobody. */
  join: (roomId: string) => Promise<ParticipantSession>
  /** One has left. */
  gone: (roomId: string) => void
  /** How long one stays after the last need of it, in milliseconds: the next look or preview comes soon, or not at all. */
  lingerMs?: number
}

interface Observer {
  participantSession: Promise<ParticipantSession>
  /** How many need it now. */
  uses: number
  timer: NodeJS.Timeout | undefined
}

const defaultLingerMs = 15_000
const never = new AbortController().signal

/** Hidden participants, one a room at most, for who wants to know or see what is published in rooms that nobody of ours is in. */
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
   * One is in the room from now on, until it is let go and nobody else needs it.
   * @param lingers the next look or preview may come soon
   * @throws what joining throws; the signal's reason
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

  /** All are out. */
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

  /** If the observer cannot be ended, its session ends by itself. */
  async #end(roomId: string, observer: Observer): Promise<void> {
    this.#forget(roomId, observer)
    // Its session ends by itself.
    await observer.participantSession.then((participantSession) => participantSession.leave(never)).catch(() => {})
  }

  #forget(roomId: string, observer: Observer): void {
    clearTimeout(observer.timer)
    if (this.#observers.get(roomId) !== observer) return
    this.#observers.delete(roomId)
    this.#options.gone(roomId)
  }
}
