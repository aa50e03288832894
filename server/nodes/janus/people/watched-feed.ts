import { z } from 'zod'
import type { SubscriptionRequests } from './subscription.ts'

/** A stream to subscribe to. */
export interface WatchedFeed {
  room: string
  /** Participant that publishes the stream. */
  feed: string
  /** Further fields of the join request: credentials of the participant on whose behalf the stream is watched. */
  [credential: string]: unknown
}

const attachedSchema = z.looseObject({
  streams: z.array(z.looseObject({ mid: z.string(), type: z.string() })).default([]),
})

/**
 * Maximum heights, in pixels, for the smallest and the middle of three sizes. A video of 720 lines is also sent at a
 * quarter and a half of its height.
 */
const smallestUpTo = 225
const middleUpTo = 450

/** Returns the requests for a participant's stream. Janus may reject them with noRoom, noFeed or roomUnauthorized. */
export function watchedFeed({ feed, ...watched }: WatchedFeed): SubscriptionRequests {
  return {
    plugin: 'janus.plugin.videoroom',
    watch: { request: 'join', ptype: 'subscriber', ...watched, streams: [{ feed }] },
    restart: { request: 'configure', restart: true },
    show: (height, attached) => {
      const mid = videoMidOf(attached)
      return mid === undefined ? undefined : { request: 'configure', streams: [{ mid, ...sizeFor(height) }] }
    },
    isEnd,
  }
}

/**
 * A request without effect, because no stream has this name. If the watched participant has left, the room has a
 * pending renegotiation, and answers with an offer. This also applies if another participant with the same id
 * publishes: Janus does not send that participant's stream.
 */
export const stillWatches = { request: 'unsubscribe', streams: [{ sub_mid: 'no stream' }] }

/** Returns the media section of the video in the data that came with the offer; undefined if there is no video. */
export function videoMidOf(attached: Readonly<Record<string, unknown>>): string | undefined {
  return attachedSchema.parse(attached).streams.find(({ type }) => type === 'video')?.mid
}

/** Returns data as it comes with an offer, with the fields that `videoMidOf` reads. */
export function attachedWith(videoMid: string): Readonly<Record<string, unknown>> {
  return { streams: videoMid === '' ? [] : [{ mid: videoMid, type: 'video' }] }
}

/**
 * Returns the substream for a height. Height 0 hides the video; substream 0 is the smallest size. If the stream has
 * fewer sizes, Janus sends the next smaller size.
 */
function sizeFor(height: number): { send: boolean; substream?: number } {
  if (height === 0) return { send: false }
  return { send: true, substream: height <= smallestUpTo ? 0 : height <= middleUpTo ? 1 : 2 }
}

const newsSchema = z.looseObject({
  videoroom: z.string().optional(),
  left: z.string().optional(),
  streams: z.array(z.looseObject({ active: z.boolean().default(false) })).optional(),
})

/**
 * Returns whether the subscription has ended: the room was destroyed, the viewer was removed, or the watched streams
 * are no longer published.
 */
function isEnd(data: Readonly<Record<string, unknown>>): boolean {
  const news = newsSchema.safeParse(data)
  if (!news.success) return false
  const { videoroom, left, streams } = news.data
  return (
    videoroom === 'destroyed' || left === 'ok' || (videoroom === 'updated' && !streams?.some(({ active }) => active))
  )
}
