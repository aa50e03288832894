import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { NodeError } from '../../media-node.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import type { JanusHandle } from '../janus-handle.ts'
import type { JanusCandidate, PluginMessage } from '../janus-message.ts'
import { CandidateGathering, withoutTrickle } from './gathered-description.ts'
import { type PublishedStream, streamsOfAnswer } from './published-streams.ts'

/** What was taken of an offer. */
export interface TakenOffer {
  /** The session description that answers it, with all candidates. */
  answer: string
  streams: PublishedStream[]
}

/** Who is told of a publication. */
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

  constructor(handle: JanusHandle, listener: PublicationListener) {
    this.#handle = handle
    this.#listener = listener
    this.#stop = handle.onEvent((event) => {
      if (event.type === 'hangup' || event.type === 'detached') this.#finish()
      if (event.type !== 'webrtcup') return
      this.#isUp = true
      this.#tellFlowing()
    })
  }

  /** Publishes what the browser offers. @throws JanusError publishersFull; as JanusHandle.request */
  async begin(offer: string, signal: AbortSignal): Promise<TakenOffer> {
    const gathering = new CandidateGathering(this.#handle)
    try {
      const { data, jsep } = await this.#publish(withoutTrickle(offer), signal)
      if (jsep === undefined) throw new NodeError('its room answers nothing')
      const { video_codec: video, audio_codec: audio } = configuredSchema.parse(data)
      this.#taken = { answer: await gathering.describe(jsep.sdp), streams: streamsOfAnswer(jsep.sdp, { video, audio }) }
      this.#tellFlowing()
      return this.#taken
    } catch (error) {
      this.#finish()
      throw error
    } finally {
      gathering.end()
    }
  }

  async #publish(offer: string, signal: AbortSignal): Promise<PluginMessage> {
    for (;;) {
      try {
        return await this.#handle.request({ request: 'publish' }, signal, { type: 'offer', sdp: offer })
      } catch (error) {
        // A connection that has just ended: its plugin knows it a moment after the core.
        if (!isJanusError(error, janusCodes.alreadyPublished)) throw error
        await this.#handle.request({ request: 'unpublish' }, signal).catch(() => {})
        await sleep(againMs, undefined, { signal })
      }
    }
  }

  /** A candidate of the browser. @throws as JanusHandle.trickle */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.trickle(candidate, signal)
  }

  /** Asks the browser for a picture that can be shown by itself. @throws as JanusHandle.request */
  async requestKeyFrame(signal: AbortSignal): Promise<void> {
    if (!this.#over) await this.#handle.request({ request: 'configure', keyframe: true }, signal)
  }

  /** Ends it; resolves when the participant can publish anew. */
  async end(signal: AbortSignal): Promise<void> {
    if (this.#over || this.#handle.isDetached) return this.#finish()
    const gone = Promise.withResolvers<void>()
    const stop = this.#handle.onEvent((event) => {
      if (event.type === 'hangup' || event.type === 'detached') gone.resolve()
    })
    try {
      await this.#handle.request({ request: 'unpublish' }, signal)
      const waiting = new AbortController()
      await Promise.race([
        gone.promise,
        sleep(endMs, undefined, { signal: waiting.signal, ref: false }).catch(() => {}),
      ])
      waiting.abort()
    } finally {
      stop()
      this.#finish()
    }
  }

  #tellFlowing(): void {
    if (this.#isUp && this.#taken !== undefined && !this.#over) this.#listener.flows(this.#taken)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#stop()
    this.#listener.ended()
  }
}
