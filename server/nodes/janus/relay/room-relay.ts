import type { StoredRelayBridge } from '../../../store/records.ts'
import { within } from '../../port/deadline.ts'
import { isNodeRefusal, NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { RelayBridge, type RelayBridgeOptions, takeDown } from './relay-bridge.ts'
import type { RelayNode } from './relay-node.ts'
import type { RelayStep } from './relay-tree.ts'
import type { ObservedPublication } from './room-observer.ts'

export interface RoomRelayOptions {
  step: RelayStep
  roomId: string
  /** Target node. */
  to: RelayNode
  /** Relay left by the previous controller; undefined if the relay is to be opened. */
  left?: StoredRelayBridge
  /** Called once if the relay was up and ended without a call of `end`. */
  ended: (why: string) => void
  /** Called when the state becomes `left` because a connection was lost. */
  lost: () => void
}

/** State of a relay. left: the relay presumably still runs on the nodes; claiming: the relay is being checked. */
export type RoomRelayState = 'left' | 'claiming' | 'opening' | 'up' | 'ending'

/** Timeout of connecting, in milliseconds. */
const openMs = 5_000

/** A relay of one stream, from the first attempt until it is removed from the target node. */
export class RoomRelay {
  readonly step: RelayStep
  readonly #options: RoomRelayOptions
  readonly #stop = new AbortController()
  #state: RoomRelayState
  #source: ObservedPublication | undefined
  #since: number
  #left: StoredRelayBridge | undefined
  #bridge: RelayBridge | undefined
  #connecting: Promise<unknown> = Promise.resolve()
  #ending: Promise<void> | undefined

  constructor(options: RoomRelayOptions) {
    const { step, left } = options
    this.#options = options
    this.step = step
    this.#left = left
    this.#state = left === undefined ? 'opening' : 'left'
    this.#since = left?.up_at ?? Date.now()
  }

  get state(): RoomRelayState {
    return this.#state
  }

  /**
   * Publication that is relayed; undefined while the publication is unknown. A different publication requires a new
   * relay.
   */
  get source(): ObservedPublication | undefined {
    return this.#source
  }

  /** Time at which the relay came up, or opening began; in milliseconds since the epoch. */
  get since(): number {
    return this.#since
  }

  /** Record of the relay; undefined unless its state is `left`. */
  get left(): StoredRelayBridge | undefined {
    return this.#state === 'left' ? this.#left : undefined
  }

  /**
   * Opens the relay. On failure, removes both ends.
   * @param credentials credentials of the relay observer on the source node
   * @throws the errors of RelayBridge.open; NodeError if `end` was called meanwhile
   */
  async open(
    from: RelayNode,
    source: ObservedPublication,
    credentials: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    this.#state = 'opening'
    await this.#connect(source, (signal) => RelayBridge.open(this.#bridgeOptions(from, source), credentials, signal))
  }

  /**
   * Takes over a relay with the state `left`, if media flows through it. If the flow of media cannot be determined now,
   * the state becomes `left` again.
   * @throws NodeError with the reason why the relay cannot continue; the errors of RelayBridge.adopt
   */
  async claim(from: RelayNode, source: ObservedPublication): Promise<void> {
    const { left } = this
    if (left === undefined) throw new NodeError('it was not left by anybody')
    this.#state = 'claiming'
    try {
      await this.#connect(source, (signal) => RelayBridge.adopt(this.#bridgeOptions(from, source), left, signal))
    } catch (error) {
      if (this.state === 'claiming' && !isNodeRefusal(error)) this.#state = 'left'
      throw error
    }
  }

  /**
   * Ends the relay. Resolves when the stream is gone from the target node. Never rejects.
   * @param from undefined if the source node is not in service
   */
  end(from: RelayNode | undefined): Promise<void> {
    this.#state = 'ending'
    this.#stop.abort(new NodeError('the relay is no longer needed'))
    this.#ending ??= this.#end(from)
    return this.#ending
  }

  /** Stops without ending the relay; a relay that is still opening is removed. Never rejects. */
  async leave(): Promise<void> {
    if (this.#state === 'opening') await this.end(undefined)
    else if (this.#state !== 'ending') this.#stop.abort(new NodeConnectionError('the relay is left'))
    await this.#ending
    this.#bridge?.leave()
  }

  async #connect(source: ObservedPublication, begin: (signal: AbortSignal) => Promise<RelayBridge>): Promise<void> {
    this.#source = source
    const connected = within({ milliseconds: openMs, signal: this.#stop.signal }, (signal) => {
      const begun = begin(signal)
      // Makes `end` wait until a failed attempt has removed its handles.
      this.#connecting = begun.catch(() => {})
      return begun
    }).then((bridge) => {
      this.#bridge = bridge
      this.#since = bridge.record.up_at
      this.#left = undefined
      if (!this.#stop.signal.aborted) this.#state = 'up'
    })
    await connected
  }

  async #end(from: RelayNode | undefined): Promise<void> {
    await this.#connecting
    if (this.#bridge !== undefined) await this.#bridge.end()
    else if (this.#left !== undefined) await takeDown(this.#left, { from, to: this.#options.to })
  }

  #bridgeOptions(from: RelayNode, { id, form, display }: ObservedPublication): RelayBridgeOptions {
    const { roomId, step, to, ended } = this.#options
    return {
      roomId,
      stream: step.stream,
      from: { node: from, feed: id },
      to,
      source: { form, display },
      ended: (why) => {
        if (this.#state === 'up') ended(why)
      },
      lost: () => this.#lost(),
    }
  }

  #lost(): void {
    if (this.#state !== 'up') return
    this.#left = this.#bridge?.record
    this.#bridge = undefined
    this.#source = undefined
    this.#state = 'left'
    this.#options.lost()
  }
}
