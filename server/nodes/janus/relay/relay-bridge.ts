import type { StoredRelayBridge } from '../../../store/records.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { bothAttached, type HandlePair, passCandidates } from '../wire/handle-pair.ts'
import type { HandleEvent, JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import { participantOn, type RelayNode } from './relay-node.ts'
import type { RelayParticipant } from './relay-participants.ts'
import { unlessTaken } from './room-observer.ts'

/** Stream of a relay, with its source and target. */
export interface RelayBridgeOptions {
  roomId: string
  stream: string
  from: {
    node: RelayNode
    /** Participant that publishes the stream on the source node. */
    feed: string
  }
  /** Target node, where a separate participant publishes the stream. */
  to: RelayNode
  /** Form and display name of the stream. */
  source: { form: string; display: string }
  /** Called once if the relay ended without a call of `end` or `leave`. */
  ended: (why: string) => void
  /** Called instead of `ended` if the connection to a node was lost. The nodes presumably continue the relay. */
  lost: () => void
}

const videoRoom: JanusPlugin = 'janus.plugin.videoroom'
/** Opaque id in Janus's events. */
const opaqueId = 'roomdesk-relay'
/** Timeout for removing a relay, in milliseconds. */
const endMs = 2_000

/**
 * A stream relayed from one node to another node. A handle on the source node subscribes to the stream, and a handle on
 * the target node publishes it. The nodes connect to each other over WebRTC; the controller only passes on their
 * session descriptions.
 */
export class RelayBridge {
  /** Record stored for the next controller. */
  readonly record: StoredRelayBridge
  readonly #options: RelayBridgeOptions
  readonly #stops: (() => void)[]
  /** Whether the relay is still being opened or adopted. Meanwhile, no callback is called. */
  #isNew = true
  #isOver = false

  private constructor(options: RelayBridgeOptions, { subscriber, publisher }: HandlePair, record: StoredRelayBridge) {
    this.record = record
    this.#options = options
    this.#stops = [
      publisher.onEvent((event) => this.#hearPublisher(event, publisher)),
      subscriber.onEvent((event) => this.#hear(event, subscriber)),
    ]
  }

  /**
   * Connects both ends, and resolves when both are connected. On failure, removes both ends.
   * @param credentials credentials of the relay observer on the source node
   * @throws NodeError, JanusError, DeadlineError; the signal's reason
   */
  static async open(
    options: RelayBridgeOptions,
    credentials: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RelayBridge> {
    const { from, to, roomId, stream, source } = options
    const participant = { roomId, id: to.ids.of(stream) }
    const [sourceSession, target, admission] = await Promise.all([
      from.node.session.get(signal),
      to.session.get(signal),
      to.participants.admit(participant, signal),
    ])
    const pair = await bothAttached(
      target.attach(videoRoom, signal, opaqueId),
      sourceSession.attach(videoRoom, signal, opaqueId),
    )
    const record: StoredRelayBridge = {
      room_id: roomId,
      stream,
      ...source,
      from_node: from.node.name,
      from_session: sourceSession.id,
      subscriber: pair.subscriber.id,
      to_node: to.name,
      to_session: target.id,
      publisher: pair.publisher.id,
      up_at: 0,
    }
    to.records.put(record)
    try {
      await connect(pair, { options, credentials, participant, admission }, signal)
      signal.throwIfAborted()
      const bridge = new RelayBridge(options, pair, { ...record, up_at: Date.now() })
      if (pair.subscriber.isDetached || pair.publisher.isDetached) throw new NodeError('a handle is gone')
      bridge.#isNew = false
      to.records.put(bridge.record)
      return bridge
    } catch (error) {
      await takeDown(record, { from: from.node, to })
      throw error
    }
  }

  /**
   * Takes over an existing relay. Does not change the relay, even on failure.
   * @throws NodeError with the reason why the relay cannot continue; NodeConnectionError; the signal's reason
   */
  static async adopt(
    options: RelayBridgeOptions,
    record: StoredRelayBridge,
    signal: AbortSignal,
  ): Promise<RelayBridge> {
    const { from, to } = options
    const [source, target] = await Promise.all([from.node.session.get(signal), to.session.get(signal)])
    const subscriber = source.id === record.from_session ? source.handle(record.subscriber) : undefined
    const publisher = target.id === record.to_session ? target.handle(record.publisher) : undefined
    if (subscriber === undefined || publisher === undefined) throw new NodeError('its handles are gone')
    const bridge = new RelayBridge(options, { subscriber, publisher }, record)
    try {
      const [sent, published] = await Promise.all([
        participantOn(from.node, { session: source.id, handle: subscriber.id }, signal),
        participantOn(to, { session: target.id, handle: publisher.id }, signal),
      ])
      signal.throwIfAborted()
      if (!source.isOpen || !target.isOpen) throw new NodeConnectionError('the connection to a node was lost')
      if (bridge.#isOver || record.up_at === 0 || sent !== from.feed || published !== to.ids.of(options.stream))
        throw new NodeError('the relay no longer carries media')
      bridge.#isNew = false
      return bridge
    } catch (error) {
      bridge.leave()
      throw error
    }
  }

  /**
   * Removes the relay on both nodes; resolves when the stream is gone from the target node. Never rejects: on a node
   * that does not answer, the handle ends with its session.
   */
  async end(): Promise<void> {
    this.leave()
    await takeDown(this.record, { from: this.#options.from.node, to: this.#options.to })
  }

  /** Stops listening to both handles, without ending the relay. */
  leave(): void {
    this.#isOver = true
    for (const stop of this.#stops) stop()
  }

  #hearPublisher(event: HandleEvent, publisher: JanusHandle): void {
    if (event.type === 'plugin' && (event.data.leaving === 'ok' || event.data.videoroom === 'destroyed'))
      this.#over(() => this.#options.ended('it was removed from the room'))
    else this.#hear(event, publisher)
  }

  #hear(event: HandleEvent, { session }: JanusHandle): void {
    if (event.type === 'hangup') this.#over(() => this.#options.ended(`its WebRTC connection ended: ${event.reason}`))
    else if (event.type === 'detached' && session.isOpen)
      this.#over(() => this.#options.ended(`a handle is gone: ${event.reason}`))
    else if (event.type === 'detached') this.#over(() => this.#options.lost())
  }

  #over(tell: () => void): void {
    if (this.#isOver) return
    this.leave()
    // While opening, the failure is reported by `open` or `adopt` instead.
    if (!this.#isNew) tell()
  }
}

interface Joining {
  options: RelayBridgeOptions
  credentials: Readonly<Record<string, unknown>>
  participant: RelayParticipant
  admission: Readonly<Record<string, unknown>>
}

async function connect({ subscriber, publisher }: HandlePair, joining: Joining, signal: AbortSignal): Promise<void> {
  const { options, credentials, participant, admission } = joining
  const { from, to, source, roomId: room } = options
  const watching = [whenUp(subscriber), whenUp(publisher)]
  const described = Promise.withResolvers<void>()
  const stop = passCandidates({ subscriber, publisher }, described.promise, signal)
  try {
    const subscription = {
      request: 'join',
      ptype: 'subscriber',
      room,
      ...credentials,
      streams: [{ feed: from.feed }],
      // A changed stream gets a new relay instead.
      autoupdate: false,
    }
    const { jsep: offer } = await subscriber.request(subscription, signal)
    if (offer === undefined) throw new NodeError('its room offers nothing')
    const join = {
      request: 'joinandconfigure',
      ptype: 'publisher',
      room,
      id: participant.id,
      display: source.display,
      ...admission,
    }
    const { jsep: answer } = await unlessTaken(
      () => publisher.request(join, signal, offer),
      () => to.participants.clear(participant, signal),
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
  // Prevents an unhandled rejection: the connection may fail before `up` is awaited.
  promise.catch(() => {})
  const stop = handle.onEvent((event) => {
    if (event.type === 'webrtcup') resolve()
    else if (event.type === 'hangup') reject(new NodeError(`its WebRTC connection failed: ${event.reason}`))
    else if (event.type === 'detached') reject(new NodeError(`a handle is gone: ${event.reason}`))
  })
  return { up: promise, stop }
}

/**
 * Removes a relay of this or a previous controller. Resolves when the stream is gone from its target, without waiting
 * for the source node, which may hang. Never rejects.
 * @param nodes `from` is undefined if that node is not in service
 */
export async function takeDown(
  record: StoredRelayBridge,
  { from, to }: { from: RelayNode | undefined; to: RelayNode },
): Promise<void> {
  const { room_id: roomId, stream, from_node, from_session, subscriber, to_session, publisher } = record
  const signal = AbortSignal.timeout(endMs)
  const source = { session: from_session, handle: subscriber }
  if (from === undefined) to.records.leaveBehind(from_node, source)
  else mustNotFail(from.session.detach(source, signal))
  await to.session.detach({ session: to_session, handle: publisher }, signal)
  if (!to.records.delete(record)) return
  // If the release fails, the id stays reserved until the node is removed.
  await to.participants.release({ roomId, id: to.ids.of(stream) }, signal).catch(() => {})
}
