import { unlessAborted } from '../../deadline.ts'
import { NodeError } from '../../media-node.ts'
import { bothAttached, type HandlePair, passCandidates } from '../handle-pair.ts'
import type { HandleEvent, JanusHandle, JanusPlugin } from '../janus-handle.ts'
import type { RelayNode, RelayParticipant } from './relay-node.ts'
import { unlessTaken } from './room-observer.ts'

/** What a loop hands on, from where to where. */
export interface RelayLoopOptions {
  roomId: string
  from: {
    node: RelayNode
    /** The participant that publishes there. */
    feed: string
    /** Of our observer in the room. */
    credentials: Readonly<Record<string, unknown>>
  }
  to: {
    node: RelayNode
    /** The participant that it becomes there. */
    id: string
    display: string
  }
  /** Called once, when it ended by itself. */
  ended: (why: string) => void
}

const videoRoom: JanusPlugin = 'janus.plugin.videoroom'
/** What Janus's events name it by. */
const opaqueId = 'roomdesk-relay'
/** How long the end of a handle may take, in milliseconds. */
const detachMs = 2_000

/**
 * One stream on its way from one node to another: a handle there that subscribes to it, and a handle here that publishes what the first one sends. The two nodes call each other
 * over WebRTC; the controller only carries their descriptions.
 */
export class RelayLoop {
  readonly #subscriber: JanusHandle
  readonly #publisher: JanusHandle
  readonly #options: RelayLoopOptions
  readonly #stops: (() => void)[] = []
  #isOver = false

  private constructor(subscriber: JanusHandle, publisher: JanusHandle, options: RelayLoopOptions) {
    this.#subscriber = subscriber
    this.#publisher = publisher
    this.#options = options
    this.#stops.push(
      publisher.onEvent((event) => this.#hearPublisher(event)),
      subscriber.onEvent((event) => this.#hearEither(event)),
    )
  }

  /** Connects; resolves when both ends are. Leaves nothing behind when it fails. @throws NodeError, JanusError, DeadlineError; the signal's reason */
  static async open(options: RelayLoopOptions, signal: AbortSignal): Promise<RelayLoop> {
    const { from, to, roomId } = options
    const participant = { roomId, id: to.id }
    const [source, target, admission] = await Promise.all([
      from.node.session(signal),
      to.node.session(signal),
      to.node.admit(participant, signal),
    ])
    const { publisher, subscriber } = await bothAttached(
      target.attach(videoRoom, signal, opaqueId),
      source.attach(videoRoom, signal, opaqueId),
    )
    try {
      await connect({ subscriber, publisher }, { options, participant, admission }, signal)
      signal.throwIfAborted()
      if (subscriber.isDetached || publisher.isDetached) throw new NodeError('a handle is gone')
    } catch (error) {
      await bothDetached({ subscriber, publisher })
      await released(to.node, participant)
      throw error
    }
    return new RelayLoop(subscriber, publisher, options)
  }

  /** Takes it down on both nodes; resolves when the stream is gone where it was handed to. Never rejects: a node that does not answer ends its side with the session. */
  async end(): Promise<void> {
    this.#finish()
    const { roomId, to } = this.#options
    await bothDetached({ subscriber: this.#subscriber, publisher: this.#publisher })
    await released(to.node, { roomId, id: to.id })
  }

  #hearPublisher(event: HandleEvent): void {
    if (event.type === 'plugin' && (event.data.leaving === 'ok' || event.data.videoroom === 'destroyed'))
      this.#endedBy('it was taken out of the room')
    else this.#hearEither(event)
  }

  #hearEither(event: HandleEvent): void {
    if (event.type === 'hangup') this.#endedBy(`its WebRTC connection ended: ${event.reason}`)
    else if (event.type === 'detached') this.#endedBy(`a handle is gone: ${event.reason}`)
  }

  #endedBy(why: string): void {
    if (this.#isOver) return
    this.#finish()
    this.#options.ended(why)
  }

  #finish(): void {
    this.#isOver = true
    for (const stop of this.#stops) stop()
  }
}

interface Joining {
  options: RelayLoopOptions
  participant: RelayParticipant
  admission: Readonly<Record<string, unknown>>
}

async function connect({ subscriber, publisher }: HandlePair, joining: Joining, signal: AbortSignal): Promise<void> {
  const { options, participant, admission } = joining
  const { from, to, roomId: room } = options
  const watching = [whenUp(subscriber), whenUp(publisher)]
  const described = Promise.withResolvers<void>()
  const stop = passCandidates({ subscriber, publisher }, described.promise, signal)
  try {
    const subscription = {
      request: 'join',
      ptype: 'subscriber',
      room,
      ...from.credentials,
      streams: [{ feed: from.feed }],
      // A stream that changes is handed on anew.
      autoupdate: false,
    }
    const { jsep: offer } = await subscriber.request(subscription, signal)
    if (offer === undefined) throw new NodeError('its room offers nothing')
    const join = { request: 'joinandconfigure', ptype: 'publisher', room, id: to.id, display: to.display, ...admission }
    const { jsep: answer } = await unlessTaken(
      () => publisher.request(join, signal, offer),
      () => to.node.clear(participant, signal),
    )
    if (answer === undefined) throw new NodeError('its room answers nothing')
    await subscriber.request({ request: 'start' }, signal, answer)
    described.resolve()
    await unlessAborted(Promise.all(watching.map(({ up }) => up)), signal)
  } finally {
    stop()
    for (const one of watching) one.stop()
  }
}

function whenUp(handle: JanusHandle): { up: Promise<void>; stop: () => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // It may fail before anybody waits.
  promise.catch(() => {})
  const stop = handle.onEvent((event) => {
    if (event.type === 'webrtcup') resolve()
    else if (event.type === 'hangup') reject(new NodeError(`its WebRTC connection failed: ${event.reason}`))
    else if (event.type === 'detached') reject(new NodeError(`a handle is gone: ${event.reason}`))
  })
  return { up: promise, stop }
}

/** Waits for the publisher only: another one may come in its place then, while the node that fed it hangs. */
async function bothDetached({ subscriber, publisher }: HandlePair): Promise<void> {
  void detached(subscriber)
  await detached(publisher)
}

async function released(node: RelayNode, participant: RelayParticipant): Promise<void> {
  await node.release(participant, AbortSignal.timeout(detachMs)).catch(() => {})
}

async function detached(handle: JanusHandle): Promise<void> {
  await handle.detach(AbortSignal.timeout(detachMs)).catch(() => {})
}
