import { isFull } from '../../../shared/room-cap.ts'
import type { ToPerson } from '../../../shared/media/signal.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { Problem } from '../base/problem.ts'
import { GuestPlaces } from './guest-places.ts'
import type { LocalMedia } from './room-media.ts'
import {
  type DeviceHold,
  type Identity,
  type MemberEntry,
  type PersonLink,
  RoomMember,
  type RoomUser,
} from './member.ts'
import type { RoomMeeting } from './meeting.ts'
import type { RoomConfig } from './room-config.ts'
import type { RoomMembers } from './room-members.ts'
import type { LeaveReason, RoomReports } from './room-reports.ts'
import type { RoomStreams } from './room-streams.ts'
import type { SessionIndex } from './session-key.ts'
import type { Speakers } from './speakers.ts'
import type { WaitingRoom } from './waiting-room.ts'

/** Members of all rooms by their session keys. */
export type MemberSessions = SessionIndex<{ roomId: string; member: RoomMember }>

/** Parts of a room that change when a user enters or leaves. */
interface AttendedRoom {
  readonly config: RoomConfig
  readonly members: RoomMembers
  readonly meeting: RoomMeeting
  readonly waiting: WaitingRoom
  readonly local: LocalMedia
  readonly streams: RoomStreams
  readonly speakers: Speakers
}

interface AttendanceDependencies {
  reports: RoomReports
  sessions: MemberSessions
  /** Lifetime of the room's timers. */
  lifetime: Lifetime
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Adds and removes the users of one room. A full room is refused with code 507. */
export class Attendance {
  readonly #room: AttendedRoom
  readonly #dependencies: AttendanceDependencies
  readonly #guests = new GuestPlaces()

  constructor(room: AttendedRoom, dependencies: AttendanceDependencies) {
    this.#room = room
    this.#dependencies = dependencies
  }

  /**
   * Adds an admitted user as a new member with a new session. If the user is already a member, the new member replaces
   * the earlier one, whose session ends.
   * @throws Problem noRoom, taken, locked, roomFull
   */
  enter(identity: Identity): RoomMember {
    const present = this.#presentOf(identity)
    if (present !== undefined) return this.#replace(present, identity)
    this.assertRoom(identity)
    return this.#add(identity, undefined)
  }

  /**
   * Returns the member of an admitted user who sends or watches media. Adds a member if the user has none in this
   * process.
   * @throws Problem noRoom, taken, locked, roomFull
   */
  enterForMedia(identity: Identity): RoomMember {
    const present = this.#presentOf(identity)
    return present === undefined || present.remote !== undefined ? this.enter(identity) : present
  }

  /** Adds a camera whose media has arrived. */
  addDevice(userId: string, userName: string, device: DeviceHold): void {
    this.#add({ userId, userName, role: 'member', byNumber: false }, device)
    const { lease, second } = device
    this.#room.streams.add(userId, 'main', lease.feed, { small: second !== undefined })
  }

  /** Adds a user who joined a room with remote media through another process. */
  addRemote(member: RoomMember): void {
    const { members } = this.#room
    members.set(member)
    members.broadcast({ type: 'person_joined', person: member.person }, member)
  }

  /**
   * Checks the lock and the maximum number of users. A user who was in the room before (`wasIn`) passes the lock.
   * @throws Problem locked, roomFull
   */
  assertRoom({ wasIn, guest }: Pick<Identity, 'wasIn'> & Partial<Pick<Identity, 'guest'>>): void {
    const { config, members } = this.#room
    if (config.locked && !wasIn) throw new Problem('locked')
    if (isFull(members.size, config)) throw new Problem('roomFull')
    if (guest !== undefined && !this.#guests.hasRoom(guest, config.attendeeMax))
      throw new Problem('roomFull', 'Too many people came by this link. Ask for a link of your own.')
  }

  /** Makes a member who gave the host password a host, and notifies everybody and the controller. */
  promote(member: RoomMember): void {
    const { config, members, waiting } = this.#room
    member.entry.byPassword = true
    if (member.user.role === 'host') return
    member.user.role = 'host'
    waiting.hostsChanged()
    members.userChanged(member)
    if (config.waitingRoom === true) member.signalling.send({ type: 'waiting_list', people: waiting.people })
  }

  /**
   * Sets a person's signalling connection and closes an earlier connection. The caller sends the kept messages after
   * the first answer.
   */
  attach(member: RoomMember, link: PersonLink): void {
    const wasAway = member.signalling.isAway
    member.signalling.connect(link)
    if (wasAway) this.#room.members.notifyChanged(member, member)
  }

  /** Handles the loss of a person's signalling connection. The person may reconnect within `resumeMs` milliseconds. */
  detach(member: RoomMember, link: PersonLink, resumeMs: number): void {
    const { members } = this.#room
    if (member.signalling.link !== link || !members.has(member)) return
    const cancel = this.#dependencies.lifetime.after(resumeMs, () => {
      member.signalling.expire()
      this.dropIfGone(member)
      if (members.has(member)) members.notifyChanged(member)
    })
    member.signalling.goAway(cancel)
    members.notifyChanged(member)
  }

  /**
   * Removes a member. Returns false if the user is not in the room.
   * @param mediaOver whether the user's media on another server has already ended there
   */
  remove(userId: string, reason: LeaveReason, mediaOver = false): boolean {
    const { members, meeting, waiting, speakers } = this.#room
    const member = members.get(userId)
    if (member === undefined) return false
    members.delete(userId)
    if (!meeting.chat.has(userId)) meeting.names.release(userId)
    waiting.hostsChanged()
    speakers.forget(userId)
    this.#endSession(member)
    const over = mediaOver ? { media_over: true as const } : {}
    const last: ToPerson | undefined =
      reason === 'left' || reason === 'lost' ? undefined : { type: 'removed', reason, ...over }
    member.disconnect(last, reason === 'restarting')
    if (reason === 'lost') members.lost.add(member.person)
    members.broadcast({ type: 'person_left', user_id: userId, ...(reason === 'lost' ? { lost: true } : {}) })
    // The other process reports the departure of a user who joined there, unless a host removed the user here.
    if (member.remote !== undefined && reason !== 'kicked' && reason !== 'ended') return true
    if (reason !== 'lost') this.#dependencies.reports.left(userId, reason)
    return true
  }

  /** Removes a member who has no connection left. */
  dropIfGone(member: RoomMember): void {
    if (this.#room.members.has(member) && member.gone) this.remove(member.user.userId, 'left')
  }

  /** @throws Problem noRoom, taken */
  #presentOf({ userId, proven }: Identity): RoomMember | undefined {
    const { members } = this.#room
    members.assertOpen()
    members.assertFree(userId)
    const present = members.get(userId)
    if (present !== undefined && !proven) throw new Problem('taken')
    return present
  }

  #add(
    entering: Pick<Identity, 'userId' | 'userName' | 'named' | 'role' | 'byNumber'> & MemberEntry,
    device: DeviceHold | undefined,
  ): RoomMember {
    const { config, members, waiting } = this.#room
    const { reports, sessions, clock } = this.#dependencies
    const { userId, role, byNumber } = entering
    const userName = this.#nameFor(entering, device !== undefined)
    const user: RoomUser = {
      userId,
      userName,
      device: device !== undefined,
      role,
      byNumber,
      hand: 0,
      joinedAt: clock(),
    }
    const member = new RoomMember(user, entering, device)
    members.set(member)
    waiting.hostsChanged()
    this.#guests.take(member.entry.guest)
    members.broadcast({ type: 'person_joined', person: member.person }, member)
    sessions.set(member.session, { roomId: config.roomId, member })
    reports.joined(member)
    return member
  }

  /**
   * Replaces a member with a new one for the same user. Other members are not notified of a departure. The earlier
   * media and session end.
   */
  #replace(present: RoomMember, identity: Identity): RoomMember {
    const { config, members, waiting } = this.#room
    const { reports, sessions } = this.#dependencies
    const { userId, role, byNumber } = identity
    const userName = this.#nameFor(identity, false)
    const { hand, joinedAt } = present.user
    const user: RoomUser = { userId, userName, device: false, role, byNumber, hand, joinedAt }
    const member = new RoomMember(user, identity)
    member.takeOver(present)
    members.set(member)
    waiting.hostsChanged()
    this.#endSession(present)
    this.#guests.take(member.entry.guest)
    present.disconnect({ type: 'removed', reason: 'replaced' })
    members.notifyChanged(member, member)
    sessions.set(member.session, { roomId: config.roomId, member })
    if (present.remote !== undefined || !sameUser(present.user, user)) reports.joined(member)
    return member
  }

  /** Returns the name of a user, with a number appended if another user in the meeting has the same name. */
  #nameFor(
    { userId, userName, named, role }: Pick<Identity, 'userId' | 'userName' | 'named' | 'role'>,
    isCamera: boolean,
  ): string {
    const { members, meeting } = this.#room
    const person = role === 'host' ? 'host' : named === true ? 'named' : 'typed'
    const { name, displaced } = meeting.names.take(userId, userName, isCamera ? 'camera' : person)
    const other = displaced === undefined ? undefined : members.get(displaced)
    if (other !== undefined) {
      other.user.userName = meeting.names.take(other.user.userId, other.user.userName, 'typed').name
      members.userChanged(other)
    }
    return name
  }

  /** Ends the session and the publications of a member. */
  #endSession(member: RoomMember): void {
    this.#room.speakers.remove(member.user.userId)
    this.#guests.release(member.entry.guest)
    this.#dependencies.sessions.delete(member.session)
    this.#room.local.endPublications(member)
  }
}

function sameUser(one: RoomUser, other: RoomUser): boolean {
  return one.userName === other.userName && one.role === other.role && one.byNumber === other.byNumber
}
