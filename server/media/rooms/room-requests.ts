import type { ControlEvent, RoomRefusal } from '../../../shared/media/control.ts'
import { Problem } from '../problem.ts'

/** A room that somebody wants to enter and that is not open here. */
export interface WantedRoom {
  roomId: string
  /** That the controller must find right; null where the caller has shown a link, or needs nothing. */
  hostPassword: string | null
  /** Client address, for the record. */
  client: string
}

/** Milliseconds that the controller is given: longer than it gives its own nodes. */
const patienceMs = 6_000
/** Questions under way. */
const mostQuestions = 1_000

const laterMessage = 'The room cannot be joined at the moment. Try again in a minute.'

/**
 * Asks the controller to open rooms that people want to enter: a room is opened on its node when somebody comes who may enter, not before.
 * The controller opens the room first and answers then.
 */
export class RoomRequests {
  readonly #emit: (event: ControlEvent) => void
  readonly #waiting = new Map<number, (refusal: RoomRefusal | null) => void>()
  #lastId = 0

  constructor(emit: (event: ControlEvent) => void) {
    this.#emit = emit
  }

  /** Resolves when the room is open here. @throws Problem noRoom, hostPasswordWrong, busy */
  async ask(wanted: WantedRoom): Promise<void> {
    if (this.#waiting.size >= mostQuestions) throw new Problem('busy')
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<RoomRefusal | null>()
    const timer = setTimeout(() => answer.resolve('busy'), patienceMs)
    this.#waiting.set(id, answer.resolve)
    try {
      this.#emit({ type: 'roomWanted', id, ...wanted })
      const refusal = await answer.promise
      if (refusal !== null) throw new Problem(refusal, refusal === 'busy' ? laterMessage : undefined)
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  /** What the controller says; null: the room is open. Too late an answer changes nothing. */
  answer(id: number, refusal: RoomRefusal | null): void {
    this.#waiting.get(id)?.(refusal)
  }
}
