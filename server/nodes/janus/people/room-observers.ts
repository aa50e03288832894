import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { ParticipantSession } from './participant-session.ts'

export interface RoomObserversOptions {
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
const never = new AbortController().signal

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
