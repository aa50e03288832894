import type { ControlEvent, ControlParams } from '../../../shared/media/control.ts'
import {
  type MediaRefusalName,
  type RoomMedia,
  type RoomMediaCall,
  type RoomMediaMethod,
  roomMediaMethods,
} from '../../../shared/media/room-media.ts'
import { Problem } from '../base/problem.ts'
import { PendingRequests } from './room-requests.ts'
type MediaOutcome = ControlParams<'answer_media'>['outcome']

const messages: Partial<Record<MediaRefusalName, string>> = {
  noSession: 'You are no longer in the room.',
  badOffer: 'The offer was not taken: it may hold no codec that the room knows.',
  busy: 'The server of this room does not answer at the moment. Try again.',
}

/** `RoomMedia` of rooms whose media is on another node: every method of the table is a question to the controller. */
export class RoomMediaClient {
  readonly #emit: (event: ControlEvent) => void
  readonly #pending = new PendingRequests<MediaOutcome>()
  /** Called when a session ends on the other node, by its name. */
  readonly #sessions = new Map<string, () => void>()
  /** The methods, made from the table. Each rejects with a Problem: noRoom, noStream, noSession, tooManyVideos, badOffer, busy. */
  readonly media: RoomMedia

  constructor(emit: (event: ControlEvent) => void) {
    this.#emit = emit
    const methods = Object.keys(roomMediaMethods).map((method) => [method, this.#method(method as RoomMediaMethod)])
    // The table has all of them.
    this.media = Object.fromEntries(methods) as RoomMedia
  }

  /** Notifies of the end of a session, until what is returned is called. Returns whether it was still known then. */
  onOver(session: string, over: () => void): () => boolean {
    this.#sessions.set(session, over)
    return () => this.#sessions.delete(session)
  }

  /** Takes the controller's answer. Too late an answer changes nothing. */
  answer(id: number, outcome: MediaOutcome): void {
    this.#pending.answer(id, outcome)
  }

  /** A session has ended on the other node. */
  over(session: string): void {
    const notified = this.#sessions.get(session)
    this.#sessions.delete(session)
    notified?.()
  }

  #method(method: RoomMediaMethod): (params: RoomMediaCall['params']) => Promise<unknown> {
    return async (params) => {
      // The table ties the parameters to the method; the compiler cannot follow that through the index.
      const call = { method, params } as RoomMediaCall
      const late: MediaOutcome = { done: false, refusal: 'busy' }
      const outcome = await this.#pending.ask((id) => this.#emit({ type: 'mediaRequested', id, call }), late)
      if (!outcome.done) throw new Problem(outcome.refusal, messages[outcome.refusal])
      return roomMediaMethods[method].result.parse(outcome.result)
    }
  }
}
