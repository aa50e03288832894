import type { Doer } from '../../../shared/media/control.ts'
import type { ControllerEnd, HostAct } from '../../../shared/media/controller-methods.ts'
import type { WaitingPerson } from '../../../shared/media/signal.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { RoomMember, RoomUser } from './member.ts'
import type { RoomConfig } from './room-config.ts'

/** Reason why a member is no longer in a room. */
export type LeaveReason = 'left' | 'kicked' | 'closed' | 'restarting' | 'ended' | 'lost'

/** Reports of one room to the controller. */
export class RoomReports {
  readonly #roomId: string
  readonly #isRemote: boolean
  readonly #controller: Pick<ControllerEnd, 'notify'>

  constructor(
    { roomId, isRemote }: Pick<RoomConfig, 'roomId' | 'isRemote'>,
    controller: Pick<ControllerEnd, 'notify'>,
  ) {
    this.#roomId = roomId
    this.#isRemote = isRemote
    this.#controller = controller
  }

  joined({ user, entry: { ticket = '' } }: Pick<RoomMember, 'user' | 'entry'>): void {
    this.#entered(user, ticket)
  }

  /** Reports changed data of a user in the room: the user became host, raised or lowered a hand, or joined again. */
  changed(user: RoomUser): void {
    this.#entered(user, '')
  }

  /** Reports that a participant left. Not called for lost devices, which `DeviceJoins` reports. */
  left(userId: string, reason: LeaveReason): void {
    const roomId = this.#roomId
    if (!this.#isRemote) return this.#controller.notify('left', { roomId, userId })
    // For a room with remote media, the node with the media reports who is in the room.
    this.#controller.notify('remoteLeft', {
      roomId,
      userId,
      kicked: reason === 'kicked',
      ended: reason === 'ended',
      restarting: reason === 'restarting',
    })
  }

  /** Reports an action of a host. @param act action, person concerned, and number of people */
  acted({ userId, userName }: Doer, act: { act: HostAct; who?: Doer; count: number }): void {
    this.#controller.notify('hostActed', { roomId: this.#roomId, by: { userId, userName }, ...act })
  }

  waiting(people: WaitingPerson[]): void {
    this.#controller.notify('waiting', { roomId: this.#roomId, people })
  }

  /**
   * Reports that a user's media on the remote node was muted or unmuted.
   * @param act `by`: id of the host; empty: the user themselves
   */
  muted(userId: string, act: { kind: 'audio' | 'video'; muted: boolean; by: string }): void {
    this.#controller.notify('remoteMuted', { roomId: this.#roomId, userId, ...act })
  }

  /** Reports parts of a stream on this server that are not shown, played or recorded. */
  streamShort(userId: string, shortcomings: readonly Shortcoming[]): void {
    this.#controller.notify('streamShort', { roomId: this.#roomId, userId, shortcomings: [...shortcomings] })
  }

  #entered(user: RoomUser, ticket: string): void {
    const roomId = this.#roomId
    if (this.#isRemote) this.#controller.notify('remoteEntered', { roomId, user, ticket })
    else this.#controller.notify('joined', { roomId, user })
  }
}
