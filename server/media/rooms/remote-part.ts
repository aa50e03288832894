import type { RemotePerson, RemoteRoom, RemoteStream } from '../../../shared/media/remote-media.ts'
import { Problem } from '../base/problem.ts'
import { Member } from './member.ts'
import type { RemoteMedia } from './watched-streams.ts'
import type { RoomListener } from './room-listener.ts'
import { streamIdOf } from './room-streams.ts'
import { maxObserved, maxWatched, type RoomState } from './room-state.ts'

/** Kind of media that somebody sends to another node. */
export type MediaKind = 'audio' | 'video'

/** Remote side of a room: who is in it on the other node, what can be watched there, and what people of this program send and watch there. */
export class RemotePart {
  readonly #room: RoomState
  readonly #listener: RoomListener
  /** Viewers who are not in the room: the operator's preview. */
  readonly observers = new Set<RemoteMedia>()
  /** Ids whose sound is speech, by the remote node. */
  #speak: readonly string[] = []

  constructor(room: RoomState, listener: RoomListener) {
    this.#room = room
    this.#listener = listener
  }

  /** Replaces the people of the room who did not come through here, and the streams that can be watched. */
  set({ people, streams }: Pick<RemoteRoom, 'people' | 'streams'>): void {
    const room = this.#room
    const now = new Map(people.map((user) => [user.userId, user]))
    for (const [userId, member] of [...room.members])
      if (member.isRemote && !now.has(userId)) room.remove(userId, 'left')
    room.streams.setRemote(streams)
    for (const user of now.values()) this.#setRemotePerson(user, streams)
    for (const { userId, source, audioMuted, videoMuted } of streams) {
      const silenced = source === 'main' ? room.members.get(userId)?.silenced : undefined
      // Muted by a host under an earlier program, too: the user may unmute here.
      if (audioMuted) silenced?.add('audio')
      if (videoMuted) silenced?.add('video')
    }
    const speak = streams.filter(({ source, speaks }) => source === 'main' && speaks)
    this.#speak = speak.map(({ userId }) => userId)
    this.listen()
  }

  /** Finds out the speakers again: changes may have been missed meanwhile. */
  listen(): void {
    this.#room.speakers.tell(this.#speak.filter((userId) => this.#room.members.get(userId)?.audio === true))
  }

  #setRemotePerson({ proven, ...user }: RemotePerson, streams: readonly RemoteStream[]): void {
    const room = this.#room
    const sends = streams.find(({ userId, source }) => userId === user.userId && source === 'main')
    const audio = (sends?.audioCodec ?? '') !== '' && sends?.audioMuted !== true
    const video = (sends?.videoCodec ?? '') !== '' && sends?.videoMuted !== true
    const present = room.members.get(user.userId)
    // People who come through here are known better.
    if (present?.isRemote === false) return
    const member = present ?? new Member(user)
    const same = member.audio === audio && member.video === video && member.user.role === user.role
    Object.assign(member, { isRemote: true, unproven: !proven, audio, video })
    member.user.role = user.role
    if (present !== undefined) return same ? undefined : room.notifyChanged(member)
    room.members.set(user.userId, member)
    room.lost.delete(user.userId)
    room.broadcast({ type: 'person_joined', person: member.person }, member)
  }

  /**
   * Something of somebody's is sent or watched there, until what is returned is called.
   * @param member undefined: unseen
   * @param media ended when they are out, or the room closes
   * @throws Problem noRoom, noSession, tooMany
   */
  hold(member: Member | undefined, name: string, media: RemoteMedia): () => void {
    this.#room.assertPresent(member)
    const [open, most] = member === undefined ? [this.observers, maxObserved] : [member.watched.remote, maxWatched]
    if (open.size >= most) throw new Problem('tooMany', 'Too many streams are watched at once.')
    if (member === undefined) {
      this.observers.add(media)
      return () => this.observers.delete(media)
    }
    member.watched.remote.set(name, media)
    return () => {
      if (member.watched.remote.get(name) !== media) return
      member.watched.remote.delete(name)
      this.#room.dropIfGone(member)
    }
  }

  /** The sound or picture of somebody's camera and microphone is not passed on there, or is again. @param by id of the host who wants it; left out: they speak up themselves */
  mute(member: Member, kind: MediaKind, muted: boolean, by = ''): void {
    if (muted) member.silenced.add(kind)
    else if (!member.silenced.delete(kind)) return
    this.#listener.muted(this.#room.config.roomId, member.user.userId, { kind, muted, by })
  }

  /** Marks a stream as newly begun: nothing of it is muted. */
  begins(member: Member, streamId: string): void {
    if (streamId === streamIdOf(member.user.userId, 'main')) member.silenced.clear()
  }
}
