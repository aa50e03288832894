import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { Problem } from '../base/problem.ts'
import type { CameraLease, CameraPulls } from '../feeds/camera-pulls.ts'
import type { Feed, PictureStreams } from '../feeds/feed.ts'
import { FeedStream, fixedStreams, HeldSecond, Substream } from '../feeds/picture-streams.ts'
import type { VideoFormat } from '../feeds/feed-tracks.ts'
import type { RoomMember } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import { type OpenStream, streamIdOf } from '../rooms/room-streams.ts'
import { vp8Format, type Vp8Pictures } from '../transcode/vp8-pictures.ts'
import { type Offer, videoCodecFor } from '../webrtc/offer.ts'
import type { PeerSettings } from '../webrtc/peer.ts'
import { Publisher } from '../webrtc/publisher.ts'
import { wantedIndex } from '../webrtc/stream-selection.ts'
import { Viewer, type Watched } from '../webrtc/viewer.ts'
import type { MediaSessions } from './media-sessions.ts'
import type { OpenedMediaSession, OpenMedia, PublishInput, WatchInput, WhipWhepMedia } from './whip-whep-media.ts'

export interface LocalRoomMediaDependencies {
  pulls: CameraPulls
  vp8: Vp8Pictures
  sessions: MediaSessions
  peerSettings: () => PeerSettings
  settings: () => MediaSettings
}

/** Picture and sound of one stream as sent to a viewer. */
interface SentStream {
  feed: Feed
  /** Format of the picture; undefined: the feed's format. */
  video?: VideoFormat | undefined
  streams: PictureStreams
  /** Streams of a camera whose second stream is sent first; undefined for any other picture. */
  held: HeldSecond | undefined
}

const never = new AbortController().signal

/** Media of rooms on this server: browsers publish and watch by WebRTC. */
export class LocalRoomMedia implements WhipWhepMedia {
  readonly isRemote = false
  readonly #dependencies: LocalRoomMediaDependencies

  constructor(dependencies: LocalRoomMediaDependencies) {
    this.#dependencies = dependencies
  }

  async publish(
    open: OpenMedia,
    { room, member }: { room: Room; member: RoomMember },
    { source, offer }: PublishInput,
  ): Promise<OpenedMediaSession> {
    const { settings, peerSettings, sessions } = this.#dependencies
    const { publish_bitrate, screen_bitrate } = settings()
    const publisher = new Publisher(
      offer,
      peerSettings(),
      source === 'screen' ? screen_bitrate : publish_bitrate,
      () => member.signalling.link !== undefined,
      () => open.close(),
    )
    open.onClose(() => publisher.close())
    const { video, audio } = publisher.feed
    room.streams.assertPlace(video !== undefined, audio !== undefined, streamIdOf(member.user.userId, source))
    open.onClose(() => room.local.unpublish(member, source, publisher))
    room.local.publish(member, source, publisher)
    const sdp = await publisher.answer(offer)
    if (publisher.peer.closed) throw new Problem('noRoom')
    const session = sessions.add(publisher.peer, offer)
    open.onClose(() => sessions.delete(session.id))
    return { session, sdp }
  }

  assertWatchable(room: Room, { streamId, offer }: WatchInput): void {
    if (offer === undefined) throw new Problem('mediaType')
    room.streams.get(streamId)
  }

  async watch(
    open: OpenMedia,
    { room, member }: { room: Room; member: RoomMember | undefined },
    { streamId, offer, height, small }: WatchInput,
  ): Promise<OpenedMediaSession> {
    const { peerSettings, sessions } = this.#dependencies
    if (offer === undefined) throw new Problem('mediaType')
    const stream = room.streams.get(streamId)
    room.local.assertMayWatch(member, stream)
    const second = this.#substream(room, stream)
    const sent = await this.#inCodecOf(offer, open, await this.#sentStream(open, stream, second, { height, small }))
    // The member, the camera or the room may have been removed meanwhile.
    room.local.assertMayWatch(member, stream)
    // A held second stream was prepared with its lease. The large picture is prepared when it is sent.
    const sound = offer.media.some(({ kind, direction }) => kind === 'audio' && direction !== 'inactive')
    const { feed, video, streams, held } = sent
    if (held === undefined || (sound && feed.playback.conversion?.pictures !== true)) open.onClose(feed.prepare(sound))
    const resized: Watched['resized'] = (size) =>
      member?.signalling.send({ type: 'stream_size', stream_id: streamId, size })
    const viewer = new Viewer({ feed, video, streams, resized }, peerSettings(), () => open.close())
    open.onClose(() => viewer.close())
    if (height !== undefined) viewer.shown(height)
    open.onClose(() => room.local.unwatch(member, stream, viewer))
    room.local.watch(member, stream, viewer)
    const sdp = await viewer.answer(offer)
    if (viewer.peer.closed) throw new Problem('noStream')
    const session = sessions.add(viewer.peer, offer, (shown) => viewer.shown(shown))
    open.onClose(() => sessions.delete(session.id))
    return { session, sdp }
  }

  async resume(): Promise<OpenedMediaSession> {
    throw new Problem('noSession')
  }

  /**
   * Replaces the picture by a VP8 version if the viewer does not accept its codec and this machine can convert it.
   * @throws Problem transcoders
   */
  async #inCodecOf(offer: Offer, open: OpenMedia, sent: SentStream): Promise<SentStream> {
    const { video } = sent.feed
    const sections = offer.media.filter(({ kind }) => kind === 'video')
    const takes = (format: VideoFormat): boolean => sections.some((media) => videoCodecFor(media, format) !== undefined)
    if (video === undefined || takes(video) || !takes(vp8Format)) return sent
    const lease = await this.#dependencies.vp8.acquire(sent.feed)
    if (lease === undefined) return sent
    open.onClose(() => lease.release())
    return { feed: sent.feed, video: lease.feed.video, streams: streamsOf(lease.feed, undefined), held: undefined }
  }

  /** Returns the camera's second stream; undefined if it has none. */
  #substream(room: Room, { view }: OpenStream): Substream | undefined {
    const second = room.members.get(view.user_id)?.device?.second
    return second === undefined || !view.small ? undefined : new Substream(this.#dependencies.pulls, second)
  }

  /** Selects the stream that is sent first: the large stream if the second stream is too small or unavailable. */
  async #sentStream(
    open: OpenMedia,
    stream: OpenStream,
    second: Substream | undefined,
    { height, small }: Pick<WatchInput, 'height' | 'small'>,
  ): Promise<SentStream> {
    if (second === undefined || !(small || isEnough(second, stream.feed, height)))
      return { feed: stream.feed, streams: streamsOf(stream.feed, second), held: undefined }
    const lost = Promise.withResolvers<void>()
    const lease = await second.acquire(undefined, never, () => lost.resolve())
    if (lease === undefined) return { feed: stream.feed, streams: streamsOf(stream.feed, second), held: undefined }
    open.onClose(() => lease.release())
    const held = height === undefined ? undefined : heldBeside(stream.feed, lease, second)
    if (held === undefined) return { feed: lease.feed, streams: streamsOf(lease.feed, undefined), held }
    mustNotFail(lost.promise.then(() => held.lost()))
    return { feed: stream.feed, streams: held, held }
  }
}

/** Whether a camera's second stream is large enough for the shown height. */
function isEnough(second: Substream, main: Feed, height: number | undefined): boolean {
  return height !== undefined && height > 0 && wantedIndex([new FeedStream(main), second], height, undefined) === 1
}

/**
 * Returns streams that begin with the second stream and change to the large stream when the picture is shown larger.
 * Returns undefined if the codecs differ, because one viewer cannot receive both.
 */
function heldBeside(main: Feed, lease: CameraLease, second: Substream): HeldSecond | undefined {
  return lease.feed.video?.codec === main.video?.codec ? new HeldSecond(main, lease.feed, second) : undefined
}

/** Returns the streams of a person's or camera's picture. */
function streamsOf(feed: Feed, second: Substream | undefined): PictureStreams {
  if (feed.layers !== undefined) return feed.layers
  return second === undefined ? fixedStreams(new FeedStream(feed)) : fixedStreams(new FeedStream(feed), second)
}
