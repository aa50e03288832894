import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import type { JanusCandidate } from '../wire/janus-socket.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import {
  CandidateGathering,
  type DescriptionCredentials,
  inIceSession,
  withoutTrickle,
} from './gathered-description.ts'

type Body = Readonly<Record<string, unknown>>

/** Requests that a plugin accepts for a stream. */
export interface SubscriptionRequests {
  plugin: JanusPlugin
  /** Request that subscribes. Its answer contains an offer. */
  watch: Body
  /** Request that restarts ICE. Its answer contains an offer in a new ICE session. */
  restart: Body
  /**
   * Returns the request that selects the size for a video of this height, in device pixels; undefined if nothing can be
   * selected.
   * @param watched data that came with the offer
   */
  show: (height: number, watched: Body) => Body | undefined
  /** Returns whether an event of the plugin ends the subscription. */
  isEnd: (data: Body) => boolean
}

/** Opaque id in Janus's events for viewers of a page. */
const opaqueId = 'roomdesk-viewer'
/**
 * Delay in milliseconds after which the request for a size is repeated. A size changes at its next key frame. Janus
 * requests a key frame from the publisher at most once a second, and drops further requests within that second. The
 * repetition changes nothing if the size is already sent.
 */
const askAgainMs = 1_200
/** A stream that Janus sends to a browser. Janus offers; the browser answers. */
export class Subscription {
  readonly #handle: JanusHandle
  readonly #requests: SubscriptionRequests
  readonly #watched: Body
  #height: number | undefined
  /** Last request for a size, as JSON. */
  #shown = ''
  /** See `askAgainMs`. */
  #askAgain: NodeJS.Timeout | undefined
  /** Answer of the browser; undefined before it arrives. */
  #answer: string | undefined

  /** The plugin's data that came with the offer. */
  get watched(): Body {
    return this.#watched
  }

  /** Session description of the offer, with all candidates; empty for a resumed subscription. */
  readonly offer: string

  private constructor(handle: JanusHandle, requests: SubscriptionRequests, offer: string, watched: Body) {
    this.#handle = handle
    this.#requests = requests
    this.offer = offer
    this.#watched = watched
  }

  /**
   * Subscribes to a stream.
   * @param ended called once when the subscription ends without a call of `end`: by the plugin, with its session, or
   * with the browser's connection
   * @throws JanusError of the plugin; the errors of JanusSession.attach
   */
  static async open(
    session: JanusSession,
    requests: SubscriptionRequests,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<Subscription> {
    const handle = await session.attach(requests.plugin, signal, opaqueId)
    const gathering = new CandidateGathering(handle)
    try {
      const { data, jsep } = await handle.request(requests.watch, signal)
      if (jsep === undefined) throw new NodeError('nothing is offered')
      const subscription = new Subscription(handle, requests, await gathering.describe(jsep.sdp), data)
      if (handle.isDetached) throw new NodeError('it ended before it began')
      subscription.#hear(ended)
      return subscription
    } catch (error) {
      gathering.end()
      handle.drop()
      throw error
    }
  }

  /**
   * Resumes a subscription of an earlier controller.
   * @param answer the browser's current answer
   * @param watched the plugin's data that came with the offer, as far as known
   */
  static goOn(
    handle: JanusHandle,
    requests: SubscriptionRequests,
    { answer, watched }: { answer: string; watched: Body },
    ended: () => void,
  ): Subscription {
    const subscription = new Subscription(handle, requests, '', watched)
    subscription.#answer = withoutTrickle(answer)
    subscription.#hear(ended)
    return subscription
  }

  /** Id of the handle on the node. */
  get handle(): number {
    return this.#handle.id
  }

  #hear(ended: () => void): void {
    this.#handle.onEvent((event) => {
      const isOver = event.type === 'plugin' && this.#requests.isEnd(event.data)
      if (event.type !== 'detached' && event.type !== 'hangup' && !isOver) return
      this.#handle.drop()
      ended()
    })
  }

  /**
   * Passes the browser's answer to Janus, which then sends media.
   * @throws the errors of JanusHandle.request
   */
  async start(answer: string, signal: AbortSignal): Promise<void> {
    const sdp = withoutTrickle(answer)
    await this.#handle.request({ request: 'start' }, signal, { type: 'answer', sdp })
    this.#answer = sdp
    await this.#configure(signal)
  }

  /**
   * Restarts ICE from the browser's current network, without interrupting the subscription.
   * @returns Janus's description in the new ICE session, with all candidates
   * @throws NodeError before the browser has answered; the errors of JanusHandle.request
   */
  async restart(credentials: DescriptionCredentials, signal: AbortSignal): Promise<string> {
    if (this.#answer === undefined) throw new NodeError('it was not answered yet')
    const gathering = new CandidateGathering(this.#handle)
    try {
      const { jsep } = await this.#handle.request(this.#requests.restart, signal)
      if (jsep === undefined) throw new NodeError('nothing is offered')
      const description = await gathering.describe(jsep.sdp)
      await this.start(inIceSession(this.#answer, credentials), signal)
      return description
    } finally {
      gathering.end()
    }
  }

  /**
   * Passes an ICE candidate of the browser to Janus.
   * @throws the errors of JanusHandle.trickle
   */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    await this.#handle.trickle(candidate, signal)
  }

  /**
   * Sets the height at which the video is shown, in device pixels. Janus then sends the smallest sufficient size, and
   * no video for 0.
   * @throws the errors of JanusHandle.request
   */
  async show(height: number, signal: AbortSignal): Promise<void> {
    this.#height = height
    if (this.#answer !== undefined) await this.#configure(signal)
  }

  async end(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#askAgain)
    await this.#handle.detach(signal)
  }

  async #configure(signal: AbortSignal): Promise<void> {
    const body = this.#height === undefined ? undefined : this.#requests.show(this.#height, this.#watched)
    const text = JSON.stringify(body)
    if (body === undefined || text === this.#shown) return
    this.#shown = text
    await this.#ask(body, signal)
    clearTimeout(this.#askAgain)
    this.#askAgain = setTimeout(() => {
      // If the repetition fails, the size stays as it is until the height changes.
      if (!this.#handle.isDetached) this.#ask(body, AbortSignal.timeout(askAgainMs)).catch(() => {})
    }, askAgainMs)
    this.#askAgain.unref()
  }

  async #ask(body: Body, signal: AbortSignal): Promise<void> {
    try {
      await this.#handle.request(body, signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noHandle, janusCodes.noSession)) throw error
    }
  }
}

/** A stream to subscribe to. */
interface WatchedFeed {
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
