import type { RemoteStream } from '../../../shared/media/remote-media.ts'
import { type RoomStream, screenSuffix, type StreamSource } from '../../../shared/media/signal.ts'
import type { Feed } from '../feeds/feed.ts'
import { Problem } from '../base/problem.ts'
import type { Viewer } from '../webrtc/viewer.ts'
import type { RoomConfig } from './room-config.ts'
import type { RoomMembers } from './room-members.ts'
import type { RoomReports } from './room-reports.ts'

/** A stream of the room with its feed and viewers. */
export interface OpenStream {
  view: RoomStream
  feed: Feed
  /**
   * All viewers of the stream, in any size. They are closed when the stream leaves the room, even if the feed itself
   * continues.
   */
  viewers: Set<Viewer>
  /** Stops reports of media that is not shown, played or recorded. */
  unsubscribe: () => void
}

interface StreamsRoom {
  readonly config: RoomConfig
  readonly members: RoomMembers
  readonly reports: RoomReports
}

/** Available streams of a room, by id. Exceeded limits cause the specification's error codes 800 and 801. */
export class RoomStreams {
  readonly #room: StreamsRoom
  readonly #node: { streamsChanged(roomId: string): void }
  readonly #streams = new Map<string, OpenStream>()
  /** Streams on another node, by id. */
  readonly #remote = new Map<string, RoomStream>()

  /** @param node its `streamsChanged` is called after a stream on this server was added or removed */
  constructor(room: StreamsRoom, node: { streamsChanged(roomId: string): void }) {
    this.#room = room
    this.#node = node
  }

  values(): MapIterator<OpenStream> {
    return this.#streams.values()
  }

  get views(): RoomStream[] {
    return [...Array.from(this.#streams.values(), ({ view }) => view), ...this.#remote.values()]
  }

  /**
   * Replaces the available streams on the remote node. A change of flags only, such as `tells_level`, does not restart
   * a stream.
   */
  setRemote(streams: readonly RemoteStream[]): void {
    const views = new Map(streams.map((stream) => [streamIdOf(stream.userId, stream.source), viewOf(stream)]))
    for (const [streamId, view] of this.#remote) {
      const now = views.get(streamId)
      if (now?.video_codec === view.video_codec && now.audio_codec === view.audio_codec) continue
      this.#remote.delete(streamId)
      this.#room.members.broadcast({ type: 'stream_removed', stream_id: streamId })
    }
    for (const [streamId, stream] of views) {
      const before = this.#remote.get(streamId)
      if (before?.tells_level === stream.tells_level && before.small === stream.small) continue
      this.#remote.set(streamId, stream)
      this.#room.members.broadcast({ type: 'stream_added', stream })
    }
  }

  /** @throws Problem noStream */
  get(streamId: string): OpenStream {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) throw new Problem('noStream')
    return stream
  }

  has(stream: OpenStream): boolean {
    return this.#streams.get(stream.view.stream_id) === stream
  }

  /** Checks the limits for another stream. @throws Problem tooManyVideos, tooManyAudios */
  assertPlace(video: boolean, audio: boolean, instead?: string): void {
    const { maxVideo, maxAudio } = this.#room.config
    const others = this.views.filter(({ stream_id }) => stream_id !== instead)
    const videos = others.filter(({ video_codec }) => video_codec !== '').length
    const audios = others.filter(({ audio_codec }) => audio_codec !== '').length
    if (video && videos >= maxVideo) throw new Problem('tooManyVideos')
    if (audio && audios >= maxAudio) throw new Problem('tooManyAudios')
  }

  /** @param can `small`: the node can send a smaller picture; `tellsLevel`: audio packets carry a level */
  add(userId: string, source: StreamSource, feed: Feed, can: { small?: boolean; tellsLevel?: boolean }): void {
    const view: RoomStream = {
      stream_id: streamIdOf(userId, source),
      user_id: userId,
      source,
      video_codec: feed.video?.codec ?? '',
      audio_codec: feed.audio?.codec ?? '',
      tells_level: can.tellsLevel ?? false,
      small: can.small ?? false,
      converted: feed.playback.conversion?.pictures === true,
    }
    const { playback } = feed
    const report = (): void => {
      if (playback.shortcomings.length > 0) this.#room.reports.streamShort(userId, playback.shortcomings)
    }
    this.#streams.set(view.stream_id, { view, feed, viewers: new Set(), unsubscribe: playback.onShortcomings(report) })
    this.#room.members.broadcast({ type: 'stream_added', stream: view })
    this.#node.streamsChanged(this.#room.config.roomId)
    report()
  }

  remove(streamId: string): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    this.#streams.delete(streamId)
    stream.unsubscribe()
    this.#room.members.broadcast({ type: 'stream_removed', stream_id: streamId })
    for (const viewer of [...stream.viewers]) viewer.close()
    this.#node.streamsChanged(this.#room.config.roomId)
  }
}

function viewOf({ userId, source, videoCodec, audioCodec, tellsLevel, small }: RemoteStream): RoomStream {
  return {
    stream_id: streamIdOf(userId, source),
    user_id: userId,
    source,
    video_codec: videoCodec,
    audio_codec: audioCodec,
    // Only cameras and microphones count for speaker detection, not screens.
    tells_level: source === 'main' && tellsLevel,
    small,
    converted: false,
  }
}

/** Returns the id of a user's stream. The id of the stream of camera and microphone equals the user id. */
export function streamIdOf(userId: string, source: StreamSource): string {
  return source === 'main' ? userId : `${userId}${screenSuffix}`
}
