import type { JoinClaims } from '../../../shared/join-token.ts'
import type { ControlEvent, ControlParams, Doer, RoomLook, RoomProof } from '../../../shared/media/control.ts'
import { NotOpenYet, OnOtherNode, Problem } from '../base/problem.ts'

/** Timeout of a request, in milliseconds: longer than the controller gives its own nodes. */
const timeoutMs = 6_000
const maxPending = 1_000

/** A room that somebody wants to enter and that is not open here, or that only the controller can let them into. */
export interface WantedRoom {
  roomId: string
  proof: RoomProof
  /** Client address, for the record. */
  client: string
}

/** The controller's answer about a wanted room; null: it is open. */
type RoomAnswer = Omit<ControlParams<'answer_room'>, 'id'>

const laterMessage = 'The room cannot be joined at the moment. Try again in a minute.'
const notLockedMessage = 'The room could not be locked or unlocked at the moment. Try again.'
const notInvitedMessage = 'No join link can be made at the moment. Try again.'
const notRecordedMessage = 'The recording could not be started or stopped. Ask the operator.'
const noNumberMessage =
  'The number alone is not enough to join this room: a join link or the host password is required.'

/**
 * Requests to the controller about rooms: to open one for a visitor who may enter it, not before; to look one up; to lock one for a host, and to make a join link for one. The controller opens the room first
 * and answers then.
 */
export class RoomRequests {
  readonly #emit: (event: ControlEvent) => void
  readonly #entries = new PendingRequests<RoomAnswer>()
  readonly #looks = new PendingRequests<RoomLook | undefined>()
  readonly #locks = new PendingRequests<boolean>()
  readonly #invitations = new PendingRequests<string | undefined>()
  readonly #recordings = new PendingRequests<boolean>()

  constructor(emit: (event: ControlEvent) => void) {
    this.#emit = emit
  }

  /** Resolves when the room is open here, and the caller may enter it. @throws Problem noRoom, hostPasswordWrong, unauthorised, locked, busy; NotOpenYet; OnOtherNode */
  async ask(wanted: WantedRoom): Promise<void> {
    const late: RoomAnswer = { refusal: 'busy' }
    const { refusal, url, opening } = await this.#entries.ask(
      (id) => this.#emit({ type: 'roomWanted', id, ...wanted }),
      late,
    )
    if (refusal === 'elsewhere' && url !== undefined) throw new OnOtherNode(url)
    if (refusal === 'notOpenYet' && opening !== undefined) throw new NotOpenYet(opening)
    if (refusal === 'busy') throw new Problem('busy', laterMessage)
    if (refusal === 'unauthorised') throw new Problem('unauthorised', noNumberMessage)
    if (refusal !== null) throw new Problem(refusal)
  }

  /** Facts about a room for a stranger, or for somebody with a valid link of a role. @throws Problem busy */
  async look(looked: { roomId: string; client: string; role?: JoinClaims['role'] }): Promise<RoomLook> {
    const look = await this.#looks.ask((id) => this.#emit({ type: 'roomLooked', id, ...looked }), undefined)
    if (look === undefined) throw new Problem('busy', laterMessage)
    return look
  }

  /** Resolves when the room is locked or unlocked, as a host wants it, and everybody in it knows. @throws Problem busy */
  async lock(roomId: string, locked: boolean, by: Doer): Promise<void> {
    const done = await this.#locks.ask((id) => this.#emit({ type: 'lockWanted', id, roomId, locked, by }), false)
    if (!done) throw new Problem('busy', notLockedMessage)
  }

  /** Makes a join link for anybody, as a host wants it. @param link id of the link by which the host came @throws Problem busy */
  async invite(roomId: string, by: Doer, link: string | undefined): Promise<string> {
    const ofLink = link === undefined ? {} : { link }
    const url = await this.#invitations.ask(
      (id) => this.#emit({ type: 'inviteWanted', id, roomId, by, ...ofLink }),
      undefined,
    )
    if (url === undefined) throw new Problem('busy', notInvitedMessage)
    return url
  }

  /** Resolves when the recording of the room is started or stopped, as a host wants it. @throws Problem busy */
  async record(roomId: string, on: boolean, by: Doer): Promise<void> {
    const done = await this.#recordings.ask((id) => this.#emit({ type: 'recordingWanted', id, roomId, on, by }), false)
    if (!done) throw new Problem('busy', notRecordedMessage)
  }

  /** Takes the controller's answer. A late one changes nothing. */
  answer(id: number, answer: RoomAnswer): void {
    this.#entries.answer(id, answer)
  }

  /** Whether the controller did as a host wanted. */
  answerLock(id: number, done: boolean): void {
    this.#locks.answer(id, done)
  }

  /** Takes the join link that a host wanted; undefined: none can be made. */
  answerInvite(id: number, url: string | undefined): void {
    this.#invitations.answer(id, url)
  }

  /** Whether the controller started or stopped the recording as a host wanted. */
  answerRecording(id: number, done: boolean): void {
    this.#recordings.answer(id, done)
  }

  /** Takes the controller's answer about a room that was looked up. */
  answerLook(id: number, look: RoomLook): void {
    this.#looks.answer(id, look)
  }
}

/** Requests to the controller that wait for their answer, each with a number and a deadline. */
export class PendingRequests<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #lastId = 0

  /**
   * Sends a request and waits for its answer.
   * @param send sends it under this number
   * @param late the answer after the deadline, and while too many requests wait
   * @throws what `send` throws
   */
  async ask(send: (id: number) => void, late: Answer): Promise<Answer> {
    if (this.#waiting.size >= maxPending) return late
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<Answer>()
    const timer = setTimeout(() => answer.resolve(late), timeoutMs)
    this.#waiting.set(id, answer.resolve)
    try {
      send(id)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  answer(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer)
  }
}
