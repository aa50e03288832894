import type { RemotePerson, RemoteRoom, RemoteStream } from '../../../shared/media/remote-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import type { Viewer } from '../webrtc/viewer.ts'
import { type RemoteMedia, RoomMember } from './member.ts'
import type { RoomConfig } from './room-config.ts'
import type { RoomMembers } from './room-members.ts'
import type { LeaveReason, RoomReports } from './room-reports.ts'
import { type OpenStream, type RoomStreams, streamIdOf } from './room-streams.ts'
import type { Speakers } from './speakers.ts'

/**
 * Maximum number of streams that one person watches, and of observers per room: an audience of hundreds may watch one
 * camera.
 */
const maxWatched = 256
const maxObserved = 1_000

/** Parts of a room that its media uses. */
interface RoomState {
  readonly config: RoomConfig
  readonly reports: RoomReports
  readonly members: RoomMembers
  readonly streams: RoomStreams
  readonly speakers: Speakers
  /** See `Attendance`. */
  readonly attendance: {
    addRemote(member: RoomMember): void
    remove(userId: string, reason: LeaveReason): boolean
    dropIfGone(member: RoomMember): void
  }
}

/** Publications and viewers of one room on this server. */
export class LocalMedia {
  readonly #room: Pick<RoomState, 'attendance' | 'members' | 'speakers' | 'streams'>
  /** Viewers who are not in the room: the operator's preview. */
  readonly #observers = new Set<Viewer>()

  constructor(room: Pick<RoomState, 'attendance' | 'members' | 'speakers' | 'streams'>) {
    this.#room = room
  }

  get observers(): ReadonlySet<Viewer> {
    return this.#observers
  }

  /**
   * Adds a viewer of a stream, until the viewer ends, the stream or the member leaves the room, or the room closes.
   * @param member undefined: an observer
   * @param stream may have left the room during an asynchronous wait of the caller
   * @throws Problem noRoom, noSession, noStream, tooMany
   */
  watch(member: RoomMember | undefined, stream: OpenStream, viewer: Viewer): void {
    this.assertMayWatch(member, stream)
    stream.viewers.add(viewer)
    if (member === undefined) this.#observers.add(viewer)
    else member.watched.add(viewer, stream.view.stream_id)
  }

  /** @throws Problem noRoom, noSession, noStream, tooMany */
  assertMayWatch(member: RoomMember | undefined, stream: OpenStream): void {
    this.#room.members.assertPresent(member)
    if (!this.#room.streams.has(stream)) throw new Problem('noStream')
    const [watched, max] = member === undefined ? [this.#observers, maxObserved] : [member.watched.viewers, maxWatched]
    if (watched.size >= max) throw new Problem('tooMany', 'Too many streams are watched at once.')
  }

  /** Removes a viewer that has ended. */
  unwatch(member: RoomMember | undefined, stream: OpenStream, viewer: Viewer): void {
    stream.viewers.delete(viewer)
    if (member === undefined) return void this.#observers.delete(viewer)
    member.watched.delete(viewer)
    this.#room.attendance.dropIfGone(member)
  }

  /**
   * Adds a publication. Replaces the member's earlier publication of the same source.
   * @throws Problem noRoom, noSession
   */
  publish(member: RoomMember, source: StreamSource, publisher: Publisher): void {
    const { speakers, streams } = this.#room
    const { userId } = member.user
    this.#room.members.assertPresent(member)
    const before = member.publications.get(source)
    member.publications.set(source, publisher)
    if (before !== undefined) {
      streams.remove(streamIdOf(userId, source))
      before.close()
    }
    if (source === 'main') publisher.feed.sound.passes = speakers.add(userId)
    // Only cameras and microphones count for speaker detection, not screens.
    const tellsLevel = source === 'main' && publisher.tellsLevel
    streams.add(userId, source, publisher.feed, { tellsLevel })
  }

  /** Removes a publication that has ended. */
  unpublish(member: RoomMember, source: StreamSource, publisher: Publisher): void {
    if (member.publications.get(source) !== publisher) return
    member.publications.delete(source)
    if (source === 'main') this.#room.speakers.remove(member.user.userId)
    this.#room.streams.remove(streamIdOf(member.user.userId, source))
    this.#room.attendance.dropIfGone(member)
  }

  /** Ends all publications of a member, including the stream of a camera. */
  endPublications(member: RoomMember): void {
    for (const source of member.device === undefined ? member.publications.keys() : (['main'] as const))
      this.#room.streams.remove(streamIdOf(member.user.userId, source))
    const publishers = [...member.publications.values()]
    // Cleared first, so that `unpublish` ignores the closing publishers.
    member.publications.clear()
    for (const publisher of publishers) publisher.close()
  }
}

/**
 * Remote side of a room: its people and streams on the other node, and the media that people of this process send and
 * watch there.
 */
export class RemotePart {
  readonly #room: RoomState
  /** Viewers who are not in the room: the operator's preview. */
  readonly observers = new Set<RemoteMedia>()
  /** Ids of current speakers, from the remote node. */
  #speak: readonly string[] = []

  constructor(room: RoomState) {
    this.#room = room
  }

  /** Replaces the people of the room who joined through another process, and the available streams. */
  set({ people, streams }: Pick<RemoteRoom, 'people' | 'streams'>): void {
    const room = this.#room
    const now = new Map(people.map((user) => [user.userId, user]))
    for (const { user, remote } of [...room.members.values()])
      if (remote !== undefined && !now.has(user.userId)) room.attendance.remove(user.userId, 'left')
    room.streams.setRemote(streams)
    for (const user of now.values()) this.#setRemotePerson(user, streams)
    for (const { userId, source, audioMuted, videoMuted } of streams) {
      const silenced = source === 'main' ? room.members.get(userId)?.live.silenced : undefined
      // Includes mutes by a host before a restart of this process, so that the user may unmute here.
      if (audioMuted) silenced?.add('audio')
      if (videoMuted) silenced?.add('video')
    }
    const speak = streams.filter(({ source, speaks }) => source === 'main' && speaks)
    this.#speak = speak.map(({ userId }) => userId)
    this.listen()
  }

  /** Updates the speakers, because mutes may have changed since the last report. */
  listen(): void {
    this.#room.speakers.tell(this.#speak.filter((userId) => this.#room.members.get(userId)?.live.audio === true))
  }

  #setRemotePerson({ proven, ...user }: RemotePerson, streams: readonly RemoteStream[]): void {
    const room = this.#room
    const sends = streams.find(({ userId, source }) => userId === user.userId && source === 'main')
    const audio = (sends?.audioCodec ?? '') !== '' && sends?.audioMuted !== true
    const video = (sends?.videoCodec ?? '') !== '' && sends?.videoMuted !== true
    const present = room.members.get(user.userId)
    // For people who joined here, the local state is more accurate.
    if (present !== undefined && present.remote === undefined) return
    const member = present ?? new RoomMember(user)
    const { live } = member
    const same = live.audio === audio && live.video === video && member.user.role === user.role
    Object.assign(live, { audio, video })
    member.remote = { proven }
    member.user.role = user.role
    if (present === undefined) room.attendance.addRemote(member)
    else if (!same) room.members.notifyChanged(member)
  }

  /**
   * Registers media that a member sends or watches on the remote node. Returns a function that removes it.
   * @param member undefined: an observer
   * @param media ended when the member leaves or the room closes
   * @throws Problem noRoom, noSession, tooMany
   */
  hold(member: RoomMember | undefined, name: string, media: RemoteMedia): () => void {
    this.#room.members.assertPresent(member)
    const [open, max] = member === undefined ? [this.observers, maxObserved] : [member.watched.remote, maxWatched]
    if (open.size >= max) throw new Problem('tooMany', 'Too many streams are watched at once.')
    if (member === undefined) {
      this.observers.add(media)
      return () => this.observers.delete(media)
    }
    member.watched.remote.set(name, media)
    return () => {
      if (member.watched.remote.get(name) !== media) return
      member.watched.remote.delete(name)
      this.#room.attendance.dropIfGone(member)
    }
  }

  /**
   * Stops or resumes forwarding the sound or picture of a person's camera and microphone on the remote node.
   * @param by id of the host; omitted: the person themselves
   */
  mute(member: RoomMember, kind: 'audio' | 'video', muted: boolean, by = ''): void {
    if (muted) member.live.silenced.add(kind)
    else if (!member.live.silenced.delete(kind)) return
    this.#room.reports.muted(member.user.userId, { kind, muted, by })
  }

  /** Records the start of a stream: none of its media is muted. */
  begins(member: RoomMember, streamId: string): void {
    if (streamId === streamIdOf(member.user.userId, 'main')) member.live.silenced.clear()
  }
}
