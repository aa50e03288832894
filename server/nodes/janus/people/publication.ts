import { pause, sleep } from '../../../../shared/sleep.ts'
import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import type { JanusCandidate, Jsep, PluginMessage } from '../wire/janus-socket.ts'
import {
  CandidateGathering,
  type DescriptionCredentials,
  inIceSession,
  withoutTrickle,
} from './gathered-description.ts'
import { type PublishedStream, streamsOfAnswer } from './room-feeds.ts'

/** Accepted part of an offer. */
export interface TakenOffer {
  /** The answer with all candidates. */
  answer: string
  streams: PublishedStream[]
}

/** Receives events of a publication. */
export interface PublicationListener {
  /** Called when the publication is connected. Janus then permits subscriptions to it. */
  flows(taken: TakenOffer): void
  /** Called once when the publication ends, for any cause. */
  ended(): void
}

/**
 * Time to wait until the previous PeerConnection ends, and delay between attempts to publish; in milliseconds. A
 * PeerConnection usually ends within some milliseconds.
 */
const endMs = 1_000
const againMs = 20

const configuredSchema = z.looseObject({ video_codec: z.string().default(''), audio_codec: z.string().default('') })

/** A published camera and microphone, or a screen. A participant has one PeerConnection at a time. */
export class JanusPublication {
  readonly #handle: JanusHandle
  readonly #listener: PublicationListener
  readonly #stop: () => void
  #over = false
  #isUp = false
  #taken: TakenOffer | undefined
  /** The offer last accepted. */
  #offer = ''

  constructor(handle: JanusHandle, listener: PublicationListener) {
    this.#handle = handle
    this.#listener = listener
    this.#stop = handle.onEvent((event) => {
      if (event.type === 'hangup' || event.type === 'detached') this.#finish()
      if (event.type !== 'webrtcup') return
      this.#isUp = true
      this.#reportFlowing()
    })
  }

  /**
   * Publishes the browser's offer.
   * @throws JanusError publishersFull; the errors of JanusHandle.request
   */
  async begin(offer: string, signal: AbortSignal): Promise<TakenOffer> {
    const gathering = new CandidateGathering(this.#handle)
    try {
      this.#offer = withoutTrickle(offer)
      const { data, jsep } = await this.#publish(this.#offer, signal)
      if (jsep === undefined) throw new NodeError('its room answers nothing')
      const { video_codec: video, audio_codec: audio } = configuredSchema.parse(data)
      this.#taken = { answer: await gathering.describe(jsep.sdp), streams: streamsOfAnswer(jsep.sdp, { video, audio }) }
      this.#reportFlowing()
      return this.#taken
    } catch (error) {
      this.#finish()
      throw error
    } finally {
      gathering.end()
    }
  }

  /**
   * Resumes a publication that an earlier controller started.
   * @param offer the browser's current offer
   */
  goOn(offer: string): void {
    this.#offer = withoutTrickle(offer)
  }

  async #publish(offer: string, signal: AbortSignal): Promise<PluginMessage> {
    for (;;) {
      try {
        return await this.#handle.request({ request: 'publish' }, signal, offered(offer))
      } catch (error) {
        // The previous connection has just ended. Janus's plugin handles the end shortly after Janus's core has
        // reported it.
        if (!isJanusError(error, janusCodes.alreadyPublished)) throw error
        // The next attempt to publish reports a failure.
        await this.#handle.request({ request: 'unpublish' }, signal).catch(() => {})
        await sleep(againMs, { signal })
      }
    }
  }

  /**
   * Passes an ICE candidate of the browser to Janus.
   * @throws the errors of JanusHandle.trickle
   */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.trickle(candidate, signal)
  }

  /**
   * Restarts ICE from the browser's current network, without interrupting the publication.
   * @returns Janus's description in the new ICE session, with all candidates
   * @throws NodeError if the publication has ended; the errors of JanusHandle.request
   */
  async restart(credentials: DescriptionCredentials, signal: AbortSignal): Promise<string> {
    if (this.#over) throw new NodeError('it is over')
    const gathering = new CandidateGathering(this.#handle)
    try {
      const offer = inIceSession(this.#offer, credentials)
      const { jsep } = await this.#handle.request({ request: 'configure' }, signal, offered(offer))
      if (jsep === undefined) throw new NodeError('its room answers nothing')
      return await gathering.describe(jsep.sdp)
    } finally {
      gathering.end()
    }
  }

  /**
   * Requests a key frame from the browser.
   * @throws the errors of JanusHandle.request
   */
  async requestKeyFrame(signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.request({ request: 'configure', keyframe: true }, signal)
  }

  /** Ends the publication; resolves when the participant can publish again. */
  async end(signal: AbortSignal): Promise<void> {
    if (this.#over || this.#handle.isDetached) return this.#finish()
    const gone = Promise.withResolvers<void>()
    const stop = this.#handle.onEvent((event) => {
      if (event.type === 'hangup' || event.type === 'detached') gone.resolve()
    })
    try {
      await this.#handle.request({ request: 'unpublish' }, signal)
      const waiting = new AbortController()
      await Promise.race([gone.promise, pause(endMs, { signal: waiting.signal, ref: false })])
      waiting.abort()
    } finally {
      stop()
      this.#finish()
    }
  }

  #reportFlowing(): void {
    if (this.#isUp && this.#taken !== undefined && !this.#over) this.#listener.flows(this.#taken)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#stop()
    this.#listener.ended()
  }
}

/**
 * Matches if the RIDs of the room page list the smallest size first. Other offers begin with the largest (RFC 8853,
 * section 5.2: the order is by preference).
 */
const smallestFirst = /^a=simulcast:send ~?(?:l|q|m|0)[;,]/m

/** Returns the offer for Janus, which numbers simulcast sizes from the smallest on, and needs the order of the RIDs. */
function offered(sdp: string): Jsep {
  return { type: 'offer', sdp, ...(smallestFirst.test(sdp) ? { rid_order: 'lmh' } : {}) }
}
