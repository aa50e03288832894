import { z } from 'zod'
import type { SubscriptionRequests } from './subscription.ts'

/** The watched feed. */
export interface WatchedFeed {
  room: string
  /** Participant that publishes it. */
  feed: string
  /** Further fields of the join: of a participant on whose behalf it is watched, and what lets them in. */
  [credential: string]: unknown
}

const attachedSchema = z.looseObject({
  streams: z.array(z.looseObject({ mid: z.string(), type: z.string() })).default([]),
})

/** Heights, in pixels, up to which the smallest and the middle one of three sizes are enough: a picture of 720 lines is sent in quarters and halves besides. */
const smallestUpTo = 225
const middleUpTo = 450

/** How its room is asked for what somebody publishes. Refused with noRoom, noFeed, roomUnauthorized. */
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
 * Changes nothing, because no stream has this name. But after a watched participant has left, its room has a change to negotiate, and offers that now: also when another
 * participant of the same name publishes, whom it does not send.
 */
export const stillWatches = { request: 'unsubscribe', streams: [{ sub_mid: 'no stream' }] }

/** The media section of the picture, in what its room said with the offer; undefined where there is none. */
export function videoMidOf(attached: Readonly<Record<string, unknown>>): string | undefined {
  return attachedSchema.parse(attached).streams.find(({ type }) => type === 'video')?.mid
}

/** The plugin's data with the offer, as far as `videoMidOf` reads it. */
export function attachedWith(videoMid: string): Readonly<Record<string, unknown>> {
  return { streams: videoMid === '' ? [] : [{ mid: videoMid, type: 'video' }] }
}

/** Substream for a height: 0 is the smallest of a picture in several sizes. Janus sends the next smaller one if there are fewer. */
function sizeFor(height: number): { send: boolean; substream?: number } {
  if (height === 0) return { send: false }
  return { send: true, substream: height <= smallestUpTo ? 0 : height <= middleUpTo ? 1 : 2 }
}

const newsSchema = z.looseObject({
  videoroom: z.string().optional(),
  left: z.string().optional(),
  streams: z.array(z.looseObject({ active: z.boolean().default(false) })).optional(),
})

/** Whether the subscription is over: the room is gone, the viewer was removed, or the watched streams are no longer published. */
function isEnd(data: Readonly<Record<string, unknown>>): boolean {
  const news = newsSchema.safeParse(data)
  if (!news.success) return false
  const { videoroom, left, streams } = news.data
  return (
    videoroom === 'destroyed' || left === 'ok' || (videoroom === 'updated' && !streams?.some(({ active }) => active))
  )
}
