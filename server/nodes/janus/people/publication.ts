import { pause, sleep } from '../../../../shared/sleep.ts'
import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle } from '../wire/janus-handle.ts'
import type { JanusCandidate, Jsep, PluginMessage } from '../wire/janus-message.ts'
import { CandidateGathering, type IceCredentials, inIceSession, withoutTrickle } from './gathered-description.ts'
import { type PublishedStream, streamsOfAnswer } from './published-streams.ts'

/** Accepted part of an offer. */
export interface TakenOffer {
  /** The session description that answers it, with all candidates. */
  answer: string
  streams: PublishedStream[]
}

/** Receives events of a publication. */
export interface PublicationListener {
  /** It is connected: Janus lets others watch it from now on. */
  flows(taken: TakenOffer): void
  /** Called once when it ends, whoever ended it. */
  ended(): void
}

/** A PeerConnection of before ends within some milliseconds once that is asked for. */
const endMs = 1_000
const againMs = 20

const configuredSchema = z.looseObject({ video_codec: z.string().default(''), audio_codec: z.string().default('') })

/** Somebody's camera and microphone, or their screen, on its way into a room: the one PeerConnection of a participant, one after the other. */
export class Publication {
  readonly #handle: JanusHandle
  readonly #listener: PublicationListener
  readonly #stop: () => void
  #over = false
  #isUp = false
  #taken: TakenOffer | undefined
  /** As it was taken last. */
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

  /** Publishes what the browser offers. @throws JanusError publishersFull; as JanusHandle.request */
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

  /** One that goes on since before this controller had to do with it. @param offer the browser's, as it stands now */
  goOn(offer: string): void {
    this.#offer = withoutTrickle(offer)
  }

  async #publish(offer: string, signal: AbortSignal): Promise<PluginMessage> {
    for (;;) {
      try {
        return await this.#handle.request({ request: 'publish' }, signal, offered(offer))
      } catch (error) {
        // A connection that has just ended: its plugin knows it a moment after the core.
        if (!isJanusError(error, janusCodes.alreadyPublished)) throw error
        // Publishing is tried again in any case, and reports a failure.
        await this.#handle.request({ request: 'unpublish' }, signal).catch(() => {})
        await sleep(againMs, { signal })
      }
    }
  }

  /** A candidate of the browser. @throws as JanusHandle.trickle */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.trickle(candidate, signal)
  }

  /**
   * Restarts ICE from the browser's present network: its media goes on.
   * @returns Janus's description in the new session, with all candidates
   * @throws NodeError when it is over; as JanusHandle.request
   */
  async restart(credentials: IceCredentials, signal: AbortSignal): Promise<string> {
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

  /** Asks the browser for a picture that can be shown by itself. @throws as JanusHandle.request */
  async requestKeyFrame(signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.request({ request: 'configure', keyframe: true }, signal)
  }

  /** Ends it; resolves when the participant can publish again. */
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

/** RIDs of a picture's smallest size as our page names them, if they come first: other offers begin with the largest (RFC 8853, section 5.2: the order is by preference). */
const smallestFirst = /^a=simulcast:send ~?(?:l|q|m|0)[;,]/m

/** Janus numbers the sizes of a picture from the smallest on, and has to know in which order they are named. */
function offered(sdp: string): Jsep {
  return { type: 'offer', sdp, ...(smallestFirst.test(sdp) ? { rid_order: 'lmh' } : {}) }
}
