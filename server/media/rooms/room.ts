import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import { Lifetime } from '../base/lifetime.ts'
import { Attendance, type MemberSessions } from './attendance.ts'
import { RoomMeeting } from './meeting.ts'
import type { RoomMember } from './member.ts'
import { RoomReactions } from './reactions.ts'
import { endIn, type RoomConfig } from './room-config.ts'
import { LocalMedia, RemotePart } from './room-media.ts'
import { RoomMembers } from './room-members.ts'
import { RoomReports } from './room-reports.ts'
import { RoomStreams } from './room-streams.ts'
import { Speakers } from './speakers.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Rooms of the node, as far as one room uses them. */
export interface RoomOwner {
  readonly controller: Pick<ControllerEnd, 'notify'>
  readonly sessions: MemberSessions
  /** Returns whether the id belongs to a device of the room, according to the controller. */
  isOutgoing(roomId: string, userId: string): boolean
  streamsChanged(roomId: string): void
  /** Replaces a room after an unexpected error, because its state is no longer trusted. */
  replaceFailed(room: Room, error: unknown): void
}

/** One room: its members, their streams and viewers. */
export class Room {
  readonly #owner: RoomOwner
  readonly #clock: () => number
  /** Lifetime of the room's timers. */
  readonly #lifetime: Lifetime
  readonly reports: RoomReports
  readonly members: RoomMembers
  readonly meeting: RoomMeeting
  /** People waiting to be admitted by a host or the operator. */
  readonly waiting: WaitingRoom
  readonly attendance: Attendance
  readonly streams: RoomStreams
  readonly speakers: Speakers
  readonly reactions: RoomReactions
  readonly local: LocalMedia
  /** Remote side, if the room's media is on another node. */
  readonly remote: RemotePart
  #recording = false
  config: RoomConfig

  constructor(config: RoomConfig, owner: RoomOwner, clock: () => number = Date.now) {
    this.config = config
    this.#owner = owner
    this.#clock = clock
    const lifetime = new Lifetime((error) => owner.replaceFailed(this, error))
    this.#lifetime = lifetime
    const reports = new RoomReports(config, owner.controller)
    this.reports = reports
    this.members = new RoomMembers(reports, (userId) => owner.isOutgoing(config.roomId, userId))
    this.meeting = new RoomMeeting(clock)
    this.waiting = new WaitingRoom(this, { reports, lifetime, clock })
    this.attendance = new Attendance(this, { reports, sessions: owner.sessions, lifetime, clock })
    this.streams = new RoomStreams(this, owner)
    this.speakers = new Speakers(
      (milliseconds, run) => lifetime.after(milliseconds, run),
      (user_ids) => this.members.broadcast({ type: 'speaking', user_ids }),
    )
    this.reactions = new RoomReactions(this.members, lifetime, clock)
    this.local = new LocalMedia(this)
    this.remote = new RemotePart(this)
  }

  /** Changes the configuration and notifies the people in the room. */
  configure(config: RoomConfig): void {
    const before = this.config
    this.config = config
    const endChanged = before.endsAt !== config.endsAt || before.closesAt !== config.closesAt
    if (before.topic !== config.topic || before.locked !== config.locked || endChanged) {
      const { topic, locked } = config
      this.members.broadcast({ type: 'room_changed', topic, locked, ...endIn(config, this.#clock()) })
    }
    if (before.waitingRoom === true && config.waitingRoom !== true) this.waiting.switchOff()
  }

  /** Whether the room is recorded. Its members are notified of changes. */
  get recording(): boolean {
    return this.#recording
  }

  set recording(on: boolean) {
    if (on === this.#recording) return
    this.#recording = on
    this.members.broadcast({ type: 'recording', on })
  }

  /**
   * Mutes a member: media of this kind is not forwarded until the member unmutes or publishes again.
   * @param by id of the host; empty: the operator
   */
  silence(member: RoomMember, kind: 'audio' | 'video', by: string): void {
    const feed = member.publications.get('main')?.feed
    if (kind === 'audio') {
      member.live.audio = false
      if (feed !== undefined) feed.sound.muted = true
    } else {
      member.live.video = false
      if (feed !== undefined) feed.videoMuted = true
    }
    if (this.config.isRemote) this.remote.mute(member, kind, true, by)
    this.remote.listen()
    member.signalling.send({ type: 'muted', by, kind })
    this.members.notifyChanged(member)
  }

  /** Ends mutes by a host for the kinds of media that the member has turned on again. */
  speakUp(member: RoomMember, { audio, video }: { audio: boolean; video: boolean }): void {
    const feed = member.publications.get('main')?.feed
    if (feed !== undefined) {
      feed.sound.muted &&= !audio
      feed.videoMuted &&= !video
      if (video) feed.requestKeyFrame()
    }
    if (audio) this.remote.mute(member, 'audio', false)
    if (video) this.remote.mute(member, 'video', false)
    this.remote.listen()
  }

  /**
   * Removes everybody and closes the room. An error with one member does not prevent the removal of the others.
   * @param reason `restarting`: the room is expected back; pages reconnect automatically, to this node or another
   */
  close(reason: 'closed' | 'restarting'): void {
    this.members.close()
    this.#guarded(() => this.waiting.clear((link) => link.removed(reason)))
    for (const { user } of [...this.members.values()]) this.#guarded(() => this.attendance.remove(user.userId, reason))
    for (const viewer of [...this.local.observers]) this.#guarded(() => viewer.close())
    for (const media of [...this.remote.observers]) this.#guarded(() => media.end())
    this.#guarded(() => this.waiting.reportNobody())
    this.#lifetime.end()
  }

  #guarded(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#owner.replaceFailed(this, error)
    }
  }
}
