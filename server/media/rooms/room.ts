import { isFull } from '../../../shared/room-cap.ts'
import type { ToPerson } from '../../../shared/media/signal.ts'
import { Lifetime } from '../base/lifetime.ts'
import { Problem } from '../base/problem.ts'
import { RemotePart } from './remote-part.ts'
import { GuestPlaces } from './guest-places.ts'
import {
  type DeviceHold,
  type Identity,
  RoomMember,
  type MemberDependencies,
  type PersonLink,
  type RoomUser,
} from './member.ts'
import { LocalMedia } from './local-media.ts'
import { LostCameras } from './lost-cameras.ts'
import { RoomReactions } from './reactions.ts'
import { RoomChat } from './room-chat.ts'
import { DistinctNames } from './distinct-names.ts'
import { endIn, type RoomConfig } from './room-config.ts'
import type { LeaveReason, RoomListener } from './room-listener.ts'
import { RoomStreams } from './room-streams.ts'
import { Speakers } from './speakers.ts'
import { WaitingReport } from './waiting-report.ts'
import { WaitingRoom } from './waiting-room.ts'

/**
 * One room: its members, their streams and viewers. A full room answers with code 507. The limits of streams are in
 * `room-streams.ts`.
 */
export class Room {
  readonly #listener: RoomListener
  readonly #clock: () => number
  /** Lifetime of the room's timers. */
  readonly #lifetime: Lifetime
  /** In order of joining. */
  readonly members = new Map<string, RoomMember>()
  readonly streams = new RoomStreams((message) => this.broadcast(message))
  readonly local: LocalMedia
  /** Remote side, if the room's media is on another node. */
  readonly remote: RemotePart
  readonly chat: RoomChat
  readonly names = new DistinctNames()
  readonly speakers = new Speakers(
    (milliseconds, run) => this.#lifetime.after(milliseconds, run),
    (user_ids) => this.broadcast({ type: 'speaking', user_ids }),
  )
  readonly reactions: RoomReactions
  /** Cameras that are expected back. */
  readonly lost = new LostCameras()
  readonly #guests = new GuestPlaces()
  /** People waiting to be admitted by a host or the operator. */
  readonly waiting: WaitingRoom
  readonly #report: WaitingReport
  /** Earlier passes belong to another meeting; milliseconds since the epoch. */
  #passesFrom = 0
  #closed = false
  #recording = false
  config: RoomConfig

  constructor(config: RoomConfig, listener: RoomListener, clock: () => number = Date.now) {
    this.config = config
    this.#listener = listener
    this.#clock = clock
    this.local = new LocalMedia(this)
    this.remote = new RemotePart(this, listener)
    this.chat = new RoomChat(clock)
    this.#lifetime = new Lifetime((error) => listener.failed(error))
    const after = (milliseconds: number, run: () => void): void => void this.#lifetime.after(milliseconds, run)
    this.reactions = new RoomReactions(after, (message) => this.broadcast(message), clock)
    this.waiting = new WaitingRoom(
      (milliseconds, run) => this.#lifetime.after(milliseconds, run),
      () => this.#tellHostsWhoWaits(),
      clock,
    )
    this.#report = new WaitingReport(
      () => this.waiting.people,
      (milliseconds, run) => this.#lifetime.after(milliseconds, run),
      (people) => listener.waiting(this.config.roomId, people),
    )
  }

  /** Changes the configuration and notifies the people in the room. */
  configure(config: RoomConfig): void {
    const before = this.config
    this.config = config
    const endChanged = before.endsAt !== config.endsAt || before.closesAt !== config.closesAt
    if (before.topic !== config.topic || before.locked !== config.locked || endChanged) {
      const { topic, locked } = config
      this.broadcast({ type: 'room_changed', topic, locked, ...endIn(config, this.#clock()) })
    }
    // The waiting room was switched off: everybody waiting enters.
    if (before.waitingRoom === true && config.waitingRoom !== true) {
      this.waiting.clear((link, identity) => {
        try {
          link.enter(identity)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          link.refuse(error)
        }
      })
    }
  }

  /** Whether the room's people are recorded. They are notified of changes. */
  get recording(): boolean {
    return this.#recording
  }

  set recording(on: boolean) {
    if (on === this.#recording) return
    this.#recording = on
    this.broadcast({ type: 'recording', on })
  }

  /** Whether a host has to admit the user first. */
  mustWait({ userId, role, wasIn }: Pick<Identity, 'userId' | 'role' | 'wasIn'>): boolean {
    if (this.config.waitingRoom !== true || role === 'host' || wasIn) return false
    return this.members.get(userId)?.met !== true
  }

  /** Begins another meeting. Passes, messages and names of the previous one are discarded. */
  restart(): void {
    this.#passesFrom = this.#clock() + 1
    this.chat.clear()
    this.names.clear()
  }

  /** Whether a pass belongs to this meeting. @param issuedAt milliseconds since the epoch */
  takesPass(issuedAt: number): boolean {
    return issuedAt >= this.#passesFrom
  }

  /**
   * Adds a user to the waiting room, or reconnects them.
   * @returns whether they were admitted meanwhile and can enter
   * @throws Problem noRoom, locked, roomFull, turnedAway, taken, busy
   */
  wait(identity: Identity, link: Parameters<WaitingRoom['wait']>[1]): boolean {
    if (this.#closed) throw new Problem('noRoom')
    if (this.config.locked) throw new Problem('locked')
    this.assertFree(identity.userId)
    return this.waiting.wait(identity, link)
  }

  get hostHere(): boolean {
    for (const { user } of this.members.values()) if (user.role === 'host' && !user.device) return true
    return false
  }

  /**
   * Checks that the id is not an outgoing user's. Such an id is reserved by the controller, even while its camera is
   * lost.
   * @throws Problem taken
   */
  assertFree(userId: string): void {
    const present = this.members.get(userId)
    const isCamera = present !== undefined && (present.device !== undefined || present.user.device)
    if (isCamera || this.lost.has(userId) || this.#listener.isOutgoing(userId)) throw new Problem('taken')
  }

  /** Reports a host's action to be recorded. */
  reportAct(by: RoomMember, act: Parameters<RoomListener['acted']>[2]): void {
    this.#listener.acted(this.config.roomId, { userId: by.user.userId, userName: by.user.userName }, act)
  }

  /**
   * Adds an admitted user as a new member with a new session. It replaces the same user's earlier member, whose session
   * ends.
   * @throws Problem noRoom, taken, locked, roomFull
   */
  enter(identity: Identity): RoomMember {
    const present = this.#presentOf(identity)
    if (present !== undefined) return this.#takePlace(present, identity)
    this.assertRoom(identity)
    return this.#add(identity, undefined)
  }

  /**
   * Returns the existing member of an admitted user who sends or watches, unchanged, or adds a new one.
   * @throws Problem noRoom, taken, locked, roomFull
   */
  enterForMedia(identity: Identity): RoomMember {
    const present = this.#presentOf(identity)
    return present === undefined || present.isRemote ? this.enter(identity) : present
  }

  /** @throws Problem noRoom, taken */
  #presentOf({ userId, proven }: Identity): RoomMember | undefined {
    if (this.#closed) throw new Problem('noRoom')
    this.assertFree(userId)
    const present = this.members.get(userId)
    if (present !== undefined && !proven) throw new Problem('taken')
    return present
  }

  /** Makes a member who gave the host password a host, and notifies everybody and the controller. */
  promote(member: RoomMember): void {
    member.byPassword = true
    if (member.user.role === 'host') return
    member.user.role = 'host'
    this.#hostsChanged()
    this.userChanged(member)
    if (this.config.waitingRoom === true) member.send({ type: 'waiting_list', people: this.waiting.people })
  }

  /**
   * Checks after an asynchronous wait that the room is open and the participant session is still current.
   * @throws Problem noRoom, noSession
   */
  assertPresent(member: RoomMember | undefined): void {
    if (this.#closed) throw new Problem('noRoom')
    if (member !== undefined && this.members.get(member.user.userId) !== member) {
      throw new Problem('noSession', 'You are no longer in the room.')
    }
  }

  /**
   * Checks the lock and the maximum number of users. A user who was in the room before (`wasIn`) passes the lock.
   * @throws Problem locked, roomFull
   */
  assertRoom({ wasIn, guest }: Pick<Identity, 'wasIn'> & Partial<Pick<Identity, 'guest'>>): void {
    const { locked, attendeeMax } = this.config
    if (locked && !wasIn) throw new Problem('locked')
    if (isFull(this.members.size, this.config)) throw new Problem('roomFull')
    if (guest !== undefined && !this.#guests.hasRoom(guest, attendeeMax))
      throw new Problem('roomFull', 'Too many people came by this link. Ask for a link of your own.')
  }

  /** @throws Problem tooManyVideos, tooManyAudios */
  assertStream(video: boolean, audio: boolean, instead?: string): void {
    this.streams.assertPlace(this.config, video, audio, instead)
  }

  /** Adds a camera whose media has arrived. */
  addDevice(userId: string, userName: string, hold: DeviceHold): void {
    this.#add({ userId, userName, role: 'member', byNumber: false }, hold)
    this.streams.add(userId, 'main', hold.lease.feed, { small: hold.second !== undefined })
  }

  /**
   * Sets a person's signalling connection and replaces an earlier one. The caller sends kept messages after its first
   * answer.
   */
  attach(member: RoomMember, link: PersonLink): void {
    const before = member.link
    const wasAway = member.away
    member.connect(link)
    member.met = true
    if (before !== undefined) {
      before.send({ type: 'removed', reason: 'replaced' })
      before.close()
    }
    if (wasAway) this.broadcast({ type: 'person_changed', person: member.person }, member)
  }

  /** Handles the loss of a person's signalling connection, which may return within `resumeMs`. */
  detach(member: RoomMember, link: PersonLink, resumeMs: number): void {
    if (member.link !== link || this.members.get(member.user.userId) !== member) return
    const cancel = this.#lifetime.after(resumeMs, () => {
      member.expire()
      this.dropIfGone(member)
      if (this.members.get(member.user.userId) === member) this.notifyChanged(member)
    })
    member.goAway(cancel)
    this.notifyChanged(member)
  }

  /**
   * Removes a member. Returns false if they are not in the room.
   * @param mediaOver what they sent and watched on another server has ended there
   */
  remove(userId: string, reason: LeaveReason, mediaOver = false): boolean {
    const member = this.members.get(userId)
    if (member === undefined) return false
    this.members.delete(userId)
    if (!this.chat.has(userId)) this.names.release(userId)
    this.#hostsChanged()
    this.speakers.forget(userId)
    this.#endSession(member)
    const over = mediaOver ? { media_over: true as const } : {}
    const last: ToPerson | undefined =
      reason === 'left' || reason === 'lost' ? undefined : { type: 'removed', reason, ...over }
    member.disconnect(last, reason === 'restarting')
    if (reason === 'lost') this.lost.add(member.person)
    this.broadcast({ type: 'person_left', user_id: userId, ...(reason === 'lost' ? { lost: true } : {}) })
    // A user who joined through another process leaves through the remote node. A host's decision must also reach that
    // node.
    if (member.isRemote && reason !== 'kicked' && reason !== 'ended') return true
    if (reason !== 'lost') this.#listener.left(this.config.roomId, userId, reason)
    return true
  }

  /** Removes a lost camera that will not come back. */
  forgetLost(userId: string): void {
    if (this.lost.delete(userId)) this.broadcast({ type: 'person_left', user_id: userId })
  }

  /** Removes a member without any connection. */
  dropIfGone(member: RoomMember): void {
    if (this.members.get(member.user.userId) === member && member.gone) this.remove(member.user.userId, 'left')
  }

  /**
   * Removes everybody and closes the room. An error with one member does not stop the removal of others.
   * @param reason `restarting`: not intended by anybody; pages reconnect automatically, to this node or another
   */
  close(reason: 'closed' | 'restarting'): void {
    this.#closed = true
    this.#guarded(() => this.waiting.clear((link) => link.removed(reason)))
    for (const userId of [...this.members.keys()]) this.#guarded(() => this.remove(userId, reason))
    for (const viewer of [...this.local.observers]) this.#guarded(() => viewer.close())
    for (const media of [...this.remote.observers]) this.#guarded(() => media.end())
    this.#guarded(() => this.#report.end())
    this.#lifetime.end()
  }

  /**
   * Sends a message to all members. A closing room sends none: everybody leaves, and their media may already continue
   * on another node.
   */
  broadcast(message: ToPerson, except?: RoomMember): void {
    if (this.#closed) return
    for (const member of this.members.values()) if (member !== except) member.send(message)
  }

  #add(
    identity: Pick<Identity, 'userId' | 'userName' | 'named' | 'role' | 'byNumber'> & MemberDependencies,
    device: DeviceHold | undefined,
  ): RoomMember {
    const { userId, role, byNumber } = identity
    const userName = this.#nameFor(identity, device !== undefined)
    const joinedAt = this.#clock()
    const user: RoomUser = { userId, userName, device: device !== undefined, role, byNumber, hand: 0, joinedAt }
    const member = new RoomMember(user, { ...identity, device })
    this.members.set(userId, member)
    this.#hostsChanged()
    this.#guests.take(member.guest)
    this.lost.delete(userId)
    this.broadcast({ type: 'person_joined', person: member.person }, member)
    this.#listener.joined(this.config.roomId, member)
    return member
  }

  /** Returns the name of a user, with a number if another user in the meeting has the same one. */
  #nameFor(
    { userId, userName, named, role }: Pick<Identity, 'userId' | 'userName' | 'named' | 'role'>,
    isCamera: boolean,
  ): string {
    const person = role === 'host' ? 'host' : named === true ? 'named' : 'typed'
    const { name, displaced } = this.names.take(userId, userName, isCamera ? 'camera' : person)
    const other = displaced === undefined ? undefined : this.members.get(displaced)
    if (other !== undefined) {
      other.user.userName = this.names.take(other.user.userId, other.user.userName, 'typed').name
      this.userChanged(other)
    }
    return name
  }

  /** Ends the session and the publications of a member. */
  #endSession(member: RoomMember): void {
    const { userId } = member.user
    this.speakers.remove(userId)
    this.#guests.release(member.guest)
    this.#listener.ended(member.session)
    this.local.endPublications(member)
  }

  #hostsChanged(): void {
    if (!this.waiting.isEmpty) this.waiting.hostsChanged(this.config.topic, this.hostHere)
  }

  #tellHostsWhoWaits(): void {
    this.#report.changed()
    const message: ToPerson = { type: 'waiting_list', people: this.waiting.people }
    for (const member of this.members.values()) if (member.user.role === 'host') member.send(message)
  }

  /**
   * Replaces a member by a new one for the same user, without showing a departure. The earlier media and session end.
   */
  #takePlace(present: RoomMember, identity: Identity): RoomMember {
    const { userId, role, byNumber } = identity
    const userName = this.#nameFor(identity, false)
    const { hand, joinedAt } = present.user
    const user: RoomUser = { userId, userName, device: false, role, byNumber, hand, joinedAt }
    const member = new RoomMember(user, identity)
    const { audio, video, met } = present
    Object.assign(member, { audio, video, met })
    for (const kind of present.silenced) member.silenced.add(kind)
    this.members.set(userId, member)
    this.#hostsChanged()
    this.#endSession(present)
    this.#guests.take(member.guest)
    present.disconnect({ type: 'removed', reason: 'replaced' })
    this.broadcast({ type: 'person_changed', person: member.person }, member)
    this.#listener.replaced(this.config.roomId, member, present.isRemote || !sameUser(present.user, user))
    return member
  }

  #guarded(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#listener.failed(error)
    }
  }

  notifyChanged(member: RoomMember): void {
    this.broadcast({ type: 'person_changed', person: member.person })
  }

  /** Notifies everybody and the controller of changed data of a user. */
  userChanged(member: RoomMember): void {
    this.notifyChanged(member)
    this.#listener.changed(this.config.roomId, member.user)
  }
}

function sameUser(one: RoomUser, other: RoomUser): boolean {
  return one.userName === other.userName && one.role === other.role && one.byNumber === other.byNumber
}
