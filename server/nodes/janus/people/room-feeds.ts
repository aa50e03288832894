import { z } from 'zod'
import { screenSuffix, type StreamSource } from '../../../../shared/media/signal.ts'

/** What somebody publishes in a room. */
export interface PublishedFeed {
  /** The participant: a user's id, or that of their screen. */
  feedId: string
  userId: string
  source: StreamSource
  /** Empty for none, e.g. `h264`. */
  videoCodec: string
  audioCodec: string
}

const streamSchema = z.looseObject({
  type: z.string(),
  codec: z.string().default(''),
  disabled: z.boolean().default(false),
})
const publisherSchema = z.looseObject({ id: z.string(), streams: z.array(streamSchema).default([]) })
const newsSchema = z.looseObject({
  publishers: z.array(publisherSchema).default([]),
  /** `ok` for oneself. */
  unpublished: z.string().optional(),
  leaving: z.string().optional(),
  kicked: z.string().optional(),
})

/** What is published in one room, as Janus tells each who is in it: the same from all of them. */
export class RoomFeeds {
  readonly #feeds = new Map<string, PublishedFeed>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get list(): PublishedFeed[] {
    return [...this.#feeds.values()]
  }

  /** Whether somebody publishes a picture or sound under this id. */
  has(feedId: string): boolean {
    return this.#feeds.has(feedId)
  }

  /** Takes what Janus told a participant. */
  take(data: Readonly<Record<string, unknown>>): void {
    const news = newsSchema.safeParse(data)
    if (!news.success) return
    const { publishers, unpublished, leaving, kicked } = news.data
    for (const { id, streams } of publishers) {
      const codec = (kind: string): string =>
        streams.find(({ type, disabled }) => type === kind && !disabled)?.codec ?? ''
      this.add(id, codec('video'), codec('audio'))
    }
    for (const id of [unpublished, leaving, kicked]) if (id !== undefined) this.remove(id)
  }

  add(feedId: string, videoCodec: string, audioCodec: string): void {
    if (videoCodec === '' && audioCodec === '') return this.remove(feedId)
    const before = this.#feeds.get(feedId)
    if (before?.videoCodec === videoCodec && before.audioCodec === audioCodec) return
    this.#feeds.set(feedId, { feedId, ...ownerOf(feedId), videoCodec, audioCodec })
    this.#changed()
  }

  remove(feedId: string): void {
    if (this.#feeds.delete(feedId)) this.#changed()
  }

  clear(): void {
    const had = this.#feeds.size > 0
    this.#feeds.clear()
    if (had) this.#changed()
  }
}

/** The participant that publishes somebody's stream of this source. */
export function feedIdOf(userId: string, source: StreamSource): string {
  return source === 'main' ? userId : `${userId}${screenSuffix}`
}

/** Whether a participant is the screen of somebody who is in the room. */
export function isScreen(feedId: string): boolean {
  return feedId.endsWith(screenSuffix)
}

function ownerOf(feedId: string): Pick<PublishedFeed, 'userId' | 'source'> {
  return isScreen(feedId)
    ? { userId: feedId.slice(0, -screenSuffix.length), source: 'screen' }
    : { userId: feedId, source: 'main' }
}
