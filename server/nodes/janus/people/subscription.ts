import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import type { JanusCandidate } from '../wire/janus-message.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { CandidateGathering, type IceCredentials, inIceSession, withoutTrickle } from './gathered-description.ts'

type Body = Readonly<Record<string, unknown>>

/** How a plugin is asked for a stream. */
export interface SubscriptionRequests {
  plugin: JanusPlugin
  /** Answered with an offer. */
  watch: Body
  /** Answered with an offer in a new ICE session. */
  restart: Body
  /**
   * Makes it send what is enough for a picture of this height, in device pixels; undefined: there is nothing to change.
   * @param watched what was said with the offer
   */
  show: (height: number, watched: Body) => Body | undefined
  /** Whether what the plugin says ends it. */
  isEnd: (data: Body) => boolean
}

/** Opaque id in Janus's events of viewers of a page of ours. */
const opaqueId = 'roomdesk-viewer'
/**
 * Interval in milliseconds after which a size is requested once more. A size changes at a key picture of it; Janus requests one from the publisher at most once a second, and
 * forgets requests within that second. The repetition changes nothing if the size is sent by then.
 */
const askAgainMs = 1_200
/** One stream on its way from Janus to a browser. Janus offers; the browser answers. */
export class Subscription {
  readonly #handle: JanusHandle
  readonly #requests: SubscriptionRequests
  readonly #watched: Body
  #height: number | undefined
  /** Request for the height before, as text. */
  #shown = ''
  /** See `askAgainMs`. */
  #askAgain: NodeJS.Timeout | undefined
  /** Answer of the browser; undefined before. */
  #answer: string | undefined

  /** The plugin's data with the offer. */
  get watched(): Body {
    return this.#watched
  }

  /** The session description that is offered, with all candidates. */
  readonly offer: string

  private constructor(handle: JanusHandle, requests: SubscriptionRequests, offer: string, watched: Body) {
    this.#handle = handle
    this.#requests = requests
    this.offer = offer
    this.#watched = watched
  }

  /**
   * Subscribes.
   * @param ended called once when it ends by itself: the plugin says so, its session is gone, or the browser's connection is
   * @throws JanusError of the plugin; as JanusSession.attach
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
   * Continues a subscription that began before this controller.
   * @param answer the browser's present one
   * @param watched the plugin's data with the offer, as far as it is still known
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

  /** Its handle's id on the node. */
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

  /** Takes the browser's answer: media flows from then on. @throws as JanusHandle.request */
  async start(answer: string, signal: AbortSignal): Promise<void> {
    const sdp = withoutTrickle(answer)
    await this.#handle.request({ request: 'start' }, signal, { type: 'answer', sdp })
    this.#answer = sdp
    await this.#configure(signal)
  }

  /**
   * Restarts ICE from the browser's present network: its media goes on.
   * @returns Janus's description in the new session, with all candidates
   * @throws NodeError before the browser has answered; as JanusHandle.request
   */
  async restart(credentials: IceCredentials, signal: AbortSignal): Promise<string> {
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

  /** A candidate of the browser. @throws as JanusHandle.trickle */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    await this.#handle.trickle(candidate, signal)
  }

  /** The picture is shown so high, in device pixels: the size that is enough is sent, and none where it is not seen. @throws as JanusHandle.request */
  async show(height: number, signal: AbortSignal): Promise<void> {
    this.#height = height
    if (this.#answer !== undefined) await this.#configure(signal)
  }

  /** Ends it. */
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
      // Without an answer it stays as it is until the height changes.
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
