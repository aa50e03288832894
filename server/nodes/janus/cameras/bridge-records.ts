import type { StoredCameraBridge } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { NodeLogger } from '../../port/node-failure.ts'

/**
 * Bridges of a node, stored for the next controller. Changes are written within milliseconds, in the background: a
 * bridge whose record is lost in a crash is created again.
 */
export class BridgeRecords {
  readonly #store: Pick<Store, 'all' | 'transact'>
  readonly #node: string
  readonly #logger: NodeLogger
  readonly #writing = new Set<Promise<void>>()

  constructor(store: Pick<Store, 'all' | 'transact'>, node: string, logger: NodeLogger) {
    this.#store = store
    this.#node = node
    this.#logger = logger
  }

  /** Returns the stored bridges of the node. */
  all(): StoredCameraBridge[] {
    return [...this.#store.all('camera_loops').values()].filter(({ node }) => node === this.#node)
  }

  put(bridge: StoredCameraBridge): void {
    this.#change(bridge, true)
  }

  delete(bridge: StoredCameraBridge): void {
    this.#change(bridge, false)
  }

  /** Resolves when all pending writes are finished, whether they succeeded or not. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #change(bridge: StoredCameraBridge, isThere: boolean): void {
    const key = JSON.stringify([this.#node, bridge.room_id, bridge.user_id])
    const written = this.#store
      .transact([`camera_loops/${key}`], (transaction) => {
        if (isThere) transaction.put('camera_loops', key, { ...bridge })
        else transaction.delete('camera_loops', key)
      })
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'could not store a camera of a Janus node: it ends with the controller')
      })
      .finally(() => this.#writing.delete(written))
    this.#writing.add(written)
  }
}
