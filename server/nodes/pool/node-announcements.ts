import type { NodeState } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import { describeFailure } from '../port/node-failure.ts'
import type { LiveNode } from './state/live-node.ts'
import type { PoolContext } from './state/pool-context.ts'

export interface Announcement {
  state: NodeState
  /** Reason why the node is offline, in plain words; otherwise empty. */
  error: string
  /** Time at which the state began, in milliseconds since the epoch. */
  since: number
}

/** Announces the state of each node when it changes. */
export class NodeAnnouncements {
  readonly #context: PoolContext
  readonly #announced = new Map<string, Announcement>()
  /** Reason why each node is offline, by name. */
  readonly #errors = new Map<string, string>()

  constructor(context: PoolContext) {
    this.#context = context
  }

  /**
   * Stores the reason why a node is offline, and announces its state.
   * @param error undefined: the node is not offline
   */
  note(node: Pick<LiveNode, 'name'>, error: unknown): void {
    if (error === undefined) this.#errors.delete(node.name)
    else this.#errors.set(node.name, describeFailure(error))
    this.announce(node.name)
  }

  /** Drops the error of a node that goes out of service. */
  clearError(name: string): void {
    this.#errors.delete(name)
  }

  /** Announces the node's state if it changed. */
  announce(name: string): void {
    const { store, events, drift, clock } = this.#context
    const config = store.get('nodes', name)
    if (config === undefined) {
      this.#errors.delete(name)
      drift.forget(name)
      if (this.#announced.delete(name)) events.emit({ type: 'nodeRemoved', name })
      return
    }
    const state = this.#stateOf(config)
    const error = state === 'offline' ? (this.#errors.get(name) ?? '') : ''
    const before = this.#announced.get(name)
    if (before?.state === state && before.error === error) return
    this.#announced.set(name, { state, error, since: before?.state === state ? before.since : clock() })
    events.emit({ type: 'nodeState', name, state, error })
  }

  /** Returns the last announced state of the node. */
  stateOf(name: string): Announcement | undefined {
    return this.#announced.get(name)
  }

  #stateOf(config: StoredNode): NodeState {
    if (!config.enabled) return 'disabled'
    const node = this.#context.live.get(config.name)
    const health = node === undefined || node.leaving ? 'connecting' : node.health.state
    return health === 'online' && config.draining ? 'draining' : health
  }
}
