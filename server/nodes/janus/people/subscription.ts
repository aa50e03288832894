import { z } from 'zod'
import { NodeError } from '../../media-node.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import type { JanusHandle } from '../janus-handle.ts'
import type { JanusCandidate } from '../janus-message.ts'
import type { JanusSession } from '../janus-session.ts'
import { CandidateGathering, type IceCredentials, inIceSession, withoutTrickle } from './gathered-description.ts'

/** What is watched. */
export interface WatchedFeed {
  room: string
  /** Participant that publishes it. */
  feed: string
  /** Further fields of the join: of a participant on whose behalf it is watched, and what lets them in. */
  [credential: string]: unknown
}

/** By this Janus's events name who watches by a page of ours. */
const opaqueId = 'roomdesk-viewer'

const attachedSchema = z.looseObject({
  streams: z.array(z.looseObject({ mid: z.string(), type: z.string() })).default([]),
})

/** Heights, in pixels, up to which the smallest and the middle one of three sizes are enough: a picture of 720 lines is sent in quarters and halves besides. */
const smallestUpTo = 225
const middleUpTo = 450

/** One stream on its way from a room to a browser. Janus offers; the browser answers. */
export class Subscription {
  readonly #handle: JanusHandle
  readonly #videoMid: string | undefined
  #height: number | undefined
  /** What the browser answered; undefined before. */
  #answer: string | undefined

  /** The session description that is offered, with all candidates. */
  readonly offer: string

  private constructor(handle: JanusHandle, offer: string, videoMid: string | undefined) {
    this.#handle = handle
    this.offer = offer
    this.#videoMid = videoMid
  }

  /**
   * Subscribes.
   * @param ended called once when it ends by itself: its feed or its session is gone, or the browser's connection is
   * @throws JanusError noRoom, noFeed, roomUnauthorized; as JanusSession.attach
   */
  static async open(
    session: JanusSession,
    { feed, ...watched }: WatchedFeed,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<Subscription> {
    const handle = await session.attach('janus.plugin.videoroom', signal, opaqueId)
    const gathering = new CandidateGathering(handle)
    try {
      const join = { request: 'join', ptype: 'subscriber', ...watched, streams: [{ feed }] }
      const { data, jsep } = await handle.request(join, signal)
      if (jsep === undefined) throw new NodeError('its room offers nothing')
      const { streams } = attachedSchema.parse(data)
      const videoMid = streams.find(({ type }) => type === 'video')?.mid
      const subscription = new Subscription(handle, await gathering.describe(jsep.sdp), videoMid)
      if (handle.isDetached) throw new NodeError('it ended before it began')
      handle.onEvent((event) => {
        const isOver = event.type === 'plugin' && isEnd(event.data)
        if (event.type !== 'detached' && event.type !== 'hangup' && !isOver) return
        handle.detach(never).catch(() => {})
        ended()
      })
      return subscription
    } catch (error) {
      gathering.end()
      handle.detach(never).catch(() => {})
      throw error
    }
  }

  /** What the browser answers: media flows from then on. @throws as JanusHandle.request */
  async start(answer: string, signal: AbortSignal): Promise<void> {
    const sdp = withoutTrickle(answer)
    await this.#handle.request({ request: 'start' }, signal, { type: 'answer', sdp })
    this.#answer = sdp
    if (this.#height !== undefined) await this.#configure(this.#height, signal)
  }

  /**
   * Begins ICE anew, from wherever the browser is now: its media goes on.
   * @returns Janus's description in the new session, with all candidates
   * @throws NodeError before the browser has answered; as JanusHandle.request
   */
  async restart(credentials: IceCredentials, signal: AbortSignal): Promise<string> {
    if (this.#answer === undefined) throw new NodeError('it was not answered yet')
    const gathering = new CandidateGathering(this.#handle)
    try {
      const { jsep } = await this.#handle.request({ request: 'configure', restart: true }, signal)
      if (jsep === undefined) throw new NodeError('its room offers nothing')
      const description = await gathering.describe(jsep.sdp)
      await this.start(inIceSession(this.#answer, credentials), signal)
      return description
    } finally {
      gathering.end()
    }
  }

  /** A candidate of the browser. @throws as JanusHandle.trickle */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    await this.#handle.trickle(candidate, signal)
  }

  /** The picture is shown so high, in device pixels: the size that is enough is sent, and none where it is not seen. @throws as JanusHandle.request */
  async show(height: number, signal: AbortSignal): Promise<void> {
    const before = this.#height
    this.#height = height
    if (this.#answer !== undefined && (before === undefined || substreamFor(before) !== substreamFor(height)))
      await this.#configure(height, signal)
  }

  /** Ends it. */
  async end(signal: AbortSignal): Promise<void> {
    await this.#handle.detach(signal)
  }

  async #configure(height: number, signal: AbortSignal): Promise<void> {
    if (this.#videoMid === undefined) return
    const substream = substreamFor(height)
    const stream = substream === undefined ? { send: false } : { send: true, substream }
    try {
      await this.#handle.request({ request: 'configure', streams: [{ mid: this.#videoMid, ...stream }] }, signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noHandle, janusCodes.noSession)) throw error
    }
  }
}

const never = new AbortController().signal

/** Of a picture that is sent in several sizes, 0 is the smallest; undefined: it is not sent. Janus sends the next smaller one where there are fewer. */
function substreamFor(height: number): number | undefined {
  if (height === 0) return undefined
  return height <= smallestUpTo ? 0 : height <= middleUpTo ? 1 : 2
}

const newsSchema = z.looseObject({
  videoroom: z.string().optional(),
  left: z.string().optional(),
  streams: z.array(z.looseObject({ active: z.boolean().default(false) })).optional(),
})

/** The room is gone, whoever watches was put out, or nothing of what was watched is published any more. */
function isEnd(data: Readonly<Record<string, unknown>>): boolean {
  const news = newsSchema.safeParse(data)
  if (!news.success) return false
  const { videoroom, left, streams } = news.data
  return (
    videoroom === 'destroyed' || left === 'ok' || (videoroom === 'updated' && !streams?.some(({ active }) => active))
  )
}
