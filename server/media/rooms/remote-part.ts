import type { RemotePerson, RemoteRoom, RemoteStream } from '../../../shared/media/remote-media.ts'
import { Problem } from '../base/problem.ts'
import { RoomMember } from './member.ts'
import type { RemoteMedia } from './watched-streams.ts'
import { streamIdOf } from './room-streams.ts'
import { maxObserved, maxWatched, type RoomState } from './room-state.ts'

/** Kind of media that a person sends to another node. */
export type MediaKind = 'audio' | 'video'

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
  mute(member: RoomMember, kind: MediaKind, muted: boolean, by = ''): void {
    if (muted) member.live.silenced.add(kind)
    else if (!member.live.silenced.delete(kind)) return
    this.#room.reports.muted(member.user.userId, { kind, muted, by })
  }

  /** Records the start of a stream: none of its media is muted. */
  begins(member: RoomMember, streamId: string): void {
    if (streamId === streamIdOf(member.user.userId, 'main')) member.live.silenced.clear()
  }
}
