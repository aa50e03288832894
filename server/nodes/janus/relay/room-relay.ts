import type { StoredRelayBridge } from '../../../store/records.ts'
import { within } from '../../port/deadline.ts'
import { isRefusal, NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { RelayBridge, type RelayBridgeOptions, takeDown } from './relay-bridge.ts'
import type { RelayNode } from './relay-node.ts'
import type { RelayStep } from './relay-tree.ts'
import type { Publication } from './room-observer.ts'

/** Needs of a relay of a room. */
export interface RoomRelayOptions {
  step: RelayStep
  roomId: string
  /** The node that it hands to. */
  to: RelayNode
  /** Left by the controller of before; undefined: it is to be made. */
  left?: StoredRelayBridge
  /** Called once, when it ended by itself after it was up. */
  ended: (why: string) => void
  /** It is `left`, because a connection was lost. */
  lost: () => void
}

/** left: it goes on where it is, as far as is known; claiming: it is being checked. */
export type RoomRelayState = 'left' | 'claiming' | 'opening' | 'up' | 'ending'

/** How long a relay may take to connect, in milliseconds. */
const openMs = 5_000

/** A relay, from the first try until it is gone on the node that it handed to. */
export class RoomRelay {
  readonly step: RelayStep
  readonly #options: RoomRelayOptions
  readonly #stop = new AbortController()
  #state: RoomRelayState
  #source: Publication | undefined
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

  /** Publication that it relays: another one means another relay. Undefined until it was checked. */
  get source(): Publication | undefined {
    return this.#source
  }

  /** Since when it is up, or is opened; milliseconds since the epoch. */
  get since(): number {
    return this.#since
  }

  /** As it was left; undefined unless it is `left`. */
  get left(): StoredRelayBridge | undefined {
    return this.#state === 'left' ? this.#left : undefined
  }

  /** Connects. Leaves nothing behind when it fails. @param credentials of our observer where it is published @throws as RelayBridge.open; NodeError when it is ended meanwhile */
  async open(from: RelayNode, source: Publication, credentials: Readonly<Record<string, unknown>>): Promise<void> {
    this.#state = 'opening'
    await this.#connect(source, (signal) => RelayBridge.open(this.#bridgeOptions(from, source), credentials, signal))
  }

  /**
   * Takes over what was left, if it flows. Where that cannot be found out now it is `left` again.
   * @throws NodeError with why it is not to go on; as RelayBridge.adopt
   */
  async claim(from: RelayNode, source: Publication): Promise<void> {
    const { left } = this
    if (left === undefined) throw new NodeError('it was not left by anybody')
    this.#state = 'claiming'
    try {
      await this.#connect(source, (signal) => RelayBridge.adopt(this.#bridgeOptions(from, source), left, signal))
    } catch (error) {
      if (this.state === 'claiming' && !isRefusal(error)) this.#state = 'left'
      throw error
    }
  }

  /** It is not to be any more: resolves when it is gone where it was handed to. Never rejects. @param from undefined: that node is not in service */
  end(from: RelayNode | undefined): Promise<void> {
    this.#state = 'ending'
    this.#stop.abort(new NodeError('the relay is not needed any more'))
    this.#ending ??= this.#end(from)
    return this.#ending
  }

  /** It goes on without us; what is half done is taken down. Never rejects. */
  async leave(): Promise<void> {
    if (this.#state === 'opening') await this.end(undefined)
    else if (this.#state !== 'ending') this.#stop.abort(new NodeConnectionError('the relay is left'))
    await this.#ending
    this.#bridge?.leave()
  }

  async #connect(source: Publication, begin: (signal: AbortSignal) => Promise<RelayBridge>): Promise<void> {
    this.#source = source
    const connected = within({ milliseconds: openMs, signal: this.#stop.signal }, (signal) => {
      const begun = begin(signal)
      // Until nothing of it is left behind.
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

  #bridgeOptions(from: RelayNode, { id, form, display }: Publication): RelayBridgeOptions {
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
