import type { RequestName } from '../../../shared/media/control-link.ts'
import type { Doer } from '../../../shared/media/control.ts'
import type {
  ControllerEnd,
  controllerMethods,
  ReportParams,
  ReportResult,
  RoomLook,
} from '../../../shared/media/controller-methods.ts'
import { NotOpenYet, OnOtherNode, Problem } from '../base/problem.ts'

/** Timeout of the controller's answer, in milliseconds. */
export const answerTimeoutMs = 6_000

const laterMessage = 'The room cannot be joined at the moment. Try again in a minute.'
const notLockedMessage = 'The room could not be locked or unlocked at the moment. Try again.'
const notInvitedMessage = 'No join link can be made at the moment. Try again.'
const notRecordedMessage = 'The recording could not be started or stopped. Ask the operator.'
const noNumberMessage =
  'The number alone is not enough to join this room: a join link or the host password is required.'

/**
 * Sends requests about rooms to the controller: to enter, look up, lock and record a room, and to make a join link. The
 * controller opens a room before it answers that a user may enter.
 */
export class RoomRequests {
  readonly #controller: Pick<ControllerEnd, 'request'>

  constructor(controller: Pick<ControllerEnd, 'request'>) {
    this.#controller = controller
  }

  /**
   * Resolves when the room is open on this node and the caller may enter.
   * @throws Problem noRoom, hostPasswordWrong, unauthorised, locked, busy; NotOpenYet; OnOtherNode
   */
  async enter(wanted: ReportParams<'enter_room'>): Promise<void> {
    const { refusal, url, opening } = await this.#request('enter_room', wanted, laterMessage)
    if (refusal === 'elsewhere' && url !== undefined) throw new OnOtherNode(url)
    if (refusal === 'notOpenYet' && opening !== undefined) throw new NotOpenYet(opening)
    if (refusal === 'busy') throw new Problem('busy', laterMessage)
    if (refusal === 'unauthorised') throw new Problem('unauthorised', noNumberMessage)
    if (refusal !== null) throw new Problem(refusal)
  }

  /** Returns the facts about a room that the caller may see, with or without a valid link. @throws Problem busy */
  look(looked: ReportParams<'look_at_room'>): Promise<RoomLook> {
    return this.#request('look_at_room', looked, laterMessage)
  }

  /** Locks or unlocks the room for a host. Resolves when everybody in the room was notified. @throws Problem busy */
  async lock(roomId: string, locked: boolean, by: Doer): Promise<void> {
    const { done } = await this.#request('lock_room', { roomId, locked, by }, notLockedMessage)
    if (!done) throw new Problem('busy', notLockedMessage)
  }

  /**
   * Makes a join link for anybody, on behalf of a host.
   * @param link id of the link that the host used
   * @throws Problem busy
   */
  async invite(roomId: string, by: Doer, link: string | undefined): Promise<string> {
    const { url } = await this.#request('make_invitation', { roomId, by, link }, notInvitedMessage)
    if (url === undefined) throw new Problem('busy', notInvitedMessage)
    return url
  }

  /** Starts or stops the recording of the room for a host. @throws Problem busy */
  async record(roomId: string, on: boolean, by: Doer): Promise<void> {
    const { done } = await this.#request('record_room', { roomId, on, by }, notRecordedMessage)
    if (!done) throw new Problem('busy', notRecordedMessage)
  }

  /**
   * @param message text of the problem if the controller does not answer
   * @throws Problem busy
   */
  async #request<M extends RequestName<typeof controllerMethods>>(
    method: M,
    params: ReportParams<M>,
    message: string,
  ): Promise<ReportResult<M>> {
    try {
      return await this.#controller.request(method, params, AbortSignal.timeout(answerTimeoutMs))
    } catch {
      // The controller logs unexpected errors of its handlers; a late answer has no effect.
      throw new Problem('busy', message)
    }
  }
}
