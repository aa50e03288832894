import { setNewest } from '../../../shared/growing-cache.ts'
import type { Person, ToPerson } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { RoomMember } from './member.ts'
import type { RoomReports } from './room-reports.ts'

/** Users in one room, and messages to all of them. `Attendance` adds and removes the users. */
export class RoomMembers {
  readonly #reports: RoomReports
  readonly #isOutgoing: (userId: string) => boolean
  /** Members by user id, in order of joining. */
  readonly #byId = new Map<string, RoomMember>()
  /** Cameras that are expected back. */
  readonly lost = new LostCameras()
  #closed = false

  /** @param isOutgoing returns whether an id belongs to a device of the room, according to the controller */
  constructor(reports: RoomReports, isOutgoing: (userId: string) => boolean) {
    this.#reports = reports
    this.#isOutgoing = isOutgoing
  }

  get size(): number {
    return this.#byId.size
  }

  get(userId: string): RoomMember | undefined {
    return this.#byId.get(userId)
  }

  /** Returns the members in order of joining. */
  values(): MapIterator<RoomMember> {
    return this.#byId.values()
  }

  /** Returns whether this session is in the room and was not replaced by a later session of the same user. */
  has(member: RoomMember): boolean {
    return this.#byId.get(member.user.userId) === member
  }

  get hostHere(): boolean {
    for (const { user } of this.#byId.values()) if (user.role === 'host' && !user.device) return true
    return false
  }

  /** Adds a member, in place of an earlier session of the same user. */
  set(member: RoomMember): void {
    this.#byId.set(member.user.userId, member)
    this.lost.delete(member.user.userId)
  }

  delete(userId: string): void {
    this.#byId.delete(userId)
  }

  /**
   * Stops sending messages and rejects new members. The members are removed next, and their media may already continue
   * on another node.
   */
  close(): void {
    this.#closed = true
  }

  /** @throws Problem noRoom */
  assertOpen(): void {
    if (this.#closed) throw new Problem('noRoom')
  }

  /**
   * Checks after an asynchronous wait that the room is open and the participant session is still current.
   * @throws Problem noRoom, noSession
   */
  assertPresent(member: RoomMember | undefined): void {
    this.assertOpen()
    if (member !== undefined && !this.has(member)) throw new Problem('noSession', 'You are no longer in the room.')
  }

  /**
   * Checks that the id is not the id of a device. The controller reserves these ids, even while the camera is lost.
   * @throws Problem taken
   */
  assertFree(userId: string): void {
    const present = this.#byId.get(userId)
    const isCamera = present !== undefined && (present.device !== undefined || present.user.device)
    if (isCamera || this.lost.has(userId) || this.#isOutgoing(userId)) throw new Problem('taken')
  }

  /** Removes a lost camera that will not return. */
  forgetLost(userId: string): void {
    if (this.lost.delete(userId)) this.broadcast({ type: 'person_left', user_id: userId })
  }

  /** Sends a message to all members. */
  broadcast(message: ToPerson, except?: RoomMember): void {
    if (this.#closed) return
    for (const member of this.#byId.values()) if (member !== except) member.signalling.send(message)
  }

  notifyChanged(member: RoomMember, except?: RoomMember): void {
    this.broadcast({ type: 'person_changed', person: member.person }, except)
  }

  /** Notifies everybody and the controller of changed data of a user. */
  userChanged(member: RoomMember): void {
    this.notifyChanged(member)
    this.#reports.changed(member.user)
  }
}

/** Maximum number of lost cameras kept per room; the oldest is dropped. */
const maxCameras = 256

/** Cameras that were lost and are expected back. They take up no place in the room, but stay visible to its members. */
class LostCameras {
  readonly #people = new Map<string, Person>()

  get people(): Person[] {
    return [...this.#people.values()]
  }

  has(userId: string): boolean {
    return this.#people.has(userId)
  }

  add(person: Person): void {
    setNewest(this.#people, person.user_id, person, maxCameras)
  }

  /** Removes a camera that has returned or was removed permanently. Returns whether the camera was lost. */
  delete(userId: string): boolean {
    return this.#people.delete(userId)
  }
}
