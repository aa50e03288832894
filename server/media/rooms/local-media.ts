import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import type { Viewer } from '../webrtc/viewer.ts'
import type { RoomMember } from './member.ts'
import { type OpenStream, streamIdOf } from './room-streams.ts'
import { maxObserved, maxWatched, type RoomState } from './room-state.ts'

/** Publications and viewers of one room on this server. `RemotePart` holds the media on another server. */
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
