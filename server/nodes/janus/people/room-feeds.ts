import { z } from 'zod'
import { screenSuffix, type StreamSource } from '../../../../shared/media/signal.ts'
import type { RemoteFeed } from '../../port/room-media.ts'

/** A stream of a publisher, as described by its room. */
export interface PublishedStream {
  mid: string
  kind: 'audio' | 'video'
  /** Codec name, e.g. `h264`. */
  codec: string
  /** Whether its packets contain the audio level (RFC 6464). */
  tellsLevel: boolean
  /** Whether the stream is muted in the room, so that no one receives it. */
  muted: boolean
  /** Whether the audio level is that of speech. */
  speaks: boolean
}

const listedSchema = z.looseObject({
  type: z.string(),
  mid: z.string().default(''),
  codec: z.string().default(''),
  disabled: z.boolean().default(false),
  moderated: z.boolean().default(false),
  talking: z.boolean().optional(),
})

/** Parses the streams of a publisher in Janus's events. */
const publishedStreamsSchema = z.array(listedSchema).transform((listed) =>
  listed.flatMap(({ type, mid, codec, disabled, moderated, talking }): PublishedStream[] => {
    if (disabled || codec === '' || (type !== 'audio' && type !== 'video')) return []
    return [{ mid, kind: type, codec, tellsLevel: talking !== undefined, muted: moderated, speaks: talking === true }]
  }),
)

/** A user's publication in a room, with the participant that publishes it. */
export interface PublishedFeed extends RemoteFeed {
  /** Id of the participant: a user's id, or that of their screen. */
  feedId: string
}

const none: readonly PublishedStream[] = []

const publisherSchema = z.looseObject({ id: z.string(), streams: publishedStreamsSchema.default([]) })
const newsSchema = z.looseObject({
  videoroom: z.string().optional(),
  publishers: z.array(publisherSchema).default([]),
  /** Id of the participant that stopped publishing; `ok`: the receiver of the event. */
  unpublished: z.string().optional(),
  leaving: z.string().optional(),
  kicked: z.string().optional(),
  /** Participant whose stream was muted or unmuted, or who started or stopped speaking. */
  id: z.string().optional(),
  mid: z.string().optional(),
  moderation: z.enum(['muted', 'unmuted']).optional(),
})

/** Streams of one room. Janus sends the same events to every participant. */
export class RoomFeeds {
  readonly #streams = new Map<string, readonly PublishedStream[]>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get list(): PublishedFeed[] {
    return Array.from(this.#streams, ([feedId, streams]) => feedOf(feedId, streams))
  }

  /** Returns whether a participant with this id publishes video or audio. */
  has(feedId: string): boolean {
    return this.#streams.has(feedId)
  }

  streamsOf(feedId: string): readonly PublishedStream[] {
    return this.#streams.get(feedId) ?? none
  }

  /** Handles an event that Janus sent to a participant. */
  take(data: Readonly<Record<string, unknown>>): void {
    const news = newsSchema.safeParse(data)
    if (!news.success) return
    const { videoroom, publishers, unpublished, leaving, kicked, id, mid, moderation } = news.data
    for (const publisher of publishers) this.#notified(publisher)
    for (const gone of [unpublished, leaving, kicked]) if (gone !== undefined) this.remove(gone)
    if (id === undefined) return
    if (moderation !== undefined) this.#change(id, mid, { muted: moderation === 'muted' })
    if (videoroom === 'talking' || videoroom === 'stopped-talking')
      this.#change(id, mid, { tellsLevel: true, speaks: videoroom === 'talking' })
  }

  add(feedId: string, streams: readonly PublishedStream[]): void {
    if (streams.length === 0) return this.remove(feedId)
    const before = this.#streams.get(feedId)
    this.#streams.set(feedId, streams)
    if (before === undefined || !same(feedOf(feedId, before), feedOf(feedId, streams))) this.#changed()
  }

  remove(feedId: string): void {
    if (this.#streams.delete(feedId)) this.#changed()
  }

  clear(): void {
    const had = this.#streams.size > 0
    this.#streams.clear()
    if (had) this.#changed()
  }

  /**
   * Sets the streams of a publisher. Keeps known properties that a repeated event omits: mute state, level and speech.
   */
  #notified({ id, streams }: z.output<typeof publisherSchema>): void {
    const before = new Map(this.streamsOf(id).map((stream) => [stream.mid, stream]))
    this.add(
      id,
      streams.map((stream) => {
        const { muted = false, tellsLevel = false, speaks = false } = before.get(stream.mid) ?? {}
        return {
          ...stream,
          muted: stream.muted || muted,
          tellsLevel: stream.tellsLevel || tellsLevel,
          speaks: stream.speaks || speaks,
        }
      }),
    )
  }

  #change(feedId: string, mid: string | undefined, to: Partial<PublishedStream>): void {
    this.add(
      feedId,
      this.streamsOf(feedId).map((stream) => (stream.mid === mid ? { ...stream, ...to } : stream)),
    )
  }
}

function feedOf(feedId: string, streams: readonly PublishedStream[]): PublishedFeed {
  const [video] = streams.filter(({ kind }) => kind === 'video')
  const [audio] = streams.filter(({ kind }) => kind === 'audio')
  return {
    feedId,
    ...ownerOf(feedId),
    videoCodec: video?.codec ?? '',
    audioCodec: audio?.codec ?? '',
    videoMuted: video?.muted ?? false,
    audioMuted: audio?.muted ?? false,
    tellsLevel: audio?.tellsLevel ?? false,
    speaks: audio?.speaks ?? false,
  }
}

function same(one: PublishedFeed, other: PublishedFeed): boolean {
  return (
    one.videoCodec === other.videoCodec &&
    one.audioCodec === other.audioCodec &&
    one.videoMuted === other.videoMuted &&
    one.audioMuted === other.audioMuted &&
    one.tellsLevel === other.tellsLevel &&
    one.speaks === other.speaks
  )
}

/** Returns the id of the participant that publishes this source of a user. */
export function feedIdOf(userId: string, source: StreamSource): string {
  return source === 'main' ? userId : `${userId}${screenSuffix}`
}

/** Returns whether a participant is the screen of a user. */
export function isScreen(feedId: string): boolean {
  return feedId.endsWith(screenSuffix)
}

function ownerOf(feedId: string): Pick<PublishedFeed, 'userId' | 'source'> {
  return isScreen(feedId)
    ? { userId: feedId.slice(0, -screenSuffix.length), source: 'screen' }
    : { userId: feedId, source: 'main' }
}

/** Streams in the rooms of a node that have a participant or observer of this site. */
export class RoomFeedLists {
  readonly #rooms = new Map<string, RoomFeeds>()
  readonly #changed: (roomId: string, feeds: RoomFeeds) => void

  constructor(changed: (roomId: string, feeds: RoomFeeds) => void) {
    this.#changed = changed
  }

  /** Returns the streams of a room that has an observer, or is about to have one. */
  of(roomId: string): RoomFeeds {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const feeds: RoomFeeds = new RoomFeeds(() => {
      // Events about a removed room are ignored.
      if (this.#rooms.get(roomId) === feeds) this.#changed(roomId, feeds)
    })
    this.#rooms.set(roomId, feeds)
    return feeds
  }

  /** Returns the streams of a room; undefined for a room without an observer. */
  find(roomId: string): RoomFeeds | undefined {
    return this.#rooms.get(roomId)
  }

  /** Returns the list of streams of a room; empty for a room without an observer. */
  list(roomId: string): PublishedFeed[] {
    return this.#rooms.get(roomId)?.list ?? []
  }

  forget(roomId: string): void {
    this.#rooms.delete(roomId)
  }

  clear(): void {
    this.#rooms.clear()
  }
}

const levelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/**
 * Returns the streams of an offer that the room accepted, by its answer. Janus sends this list to all participants
 * except the publisher.
 * @param codecs codecs named by the room; empty for none
 */
export function streamsOfAnswer(
  answer: string,
  codecs: Readonly<Record<PublishedStream['kind'], string>>,
): PublishedStream[] {
  return answer
    .split(/\r?\n(?=m=)/)
    .slice(1)
    .flatMap((section): PublishedStream[] => {
      const [, kind, port] = /^m=(audio|video) (\d+) /.exec(section) ?? []
      const [, mid = ''] = /^a=mid:(\S+)/m.exec(section) ?? []
      if ((kind !== 'audio' && kind !== 'video') || port === '0' || /^a=inactive/m.test(section)) return []
      const codec = codecs[kind]
      return codec === ''
        ? []
        : [{ mid, kind, codec, tellsLevel: section.includes(levelUri), muted: false, speaks: false }]
    })
}
