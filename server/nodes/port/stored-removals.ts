import type { Removal } from '../../../shared/media/control.ts'
import type { StoredRoom } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { NodeLogger } from './node-failure.ts'

/** No join link lives longer, in milliseconds: what was taken back before that is over anyway. */
const maxLink = 30 * 24 * 60 * 60_000
/** Removals kept of one room; the oldest go first. */
const maxOfRoom = 200

/** Keeps who was taken out of a room with the room, so that a restart lets nobody back in by an old link. */
export class StoredRemovals {
  readonly #store: Pick<Store, 'all' | 'get' | 'transact'>
  readonly #logger: NodeLogger

  constructor(store: Pick<Store, 'all' | 'get' | 'transact'>, logger: NodeLogger) {
    this.#store = store
    this.#logger = logger
  }

  /** Those of every room, the oldest first. */
  list(): Removal[] {
    const found: Removal[] = []
    for (const [roomId, { removals }] of this.#store.all('rooms')) {
      for (const { user_id: userId, token_id: tokenId, at, until } of removals ?? [])
        found.push({ roomId, userId, tokenId, at, until })
    }
    return found.sort((one, other) => one.at - other.at)
  }

  /** Stores one; resolves when it is on disk, or cannot be. */
  async keep({ roomId, userId, tokenId, at, until }: Removal): Promise<void> {
    try {
      await this.#store.transact([`rooms/${roomId}`], (transaction) => {
        const room: StoredRoom | undefined = this.#store.get('rooms', roomId)
        if (room === undefined) return
        const live = (room.removals ?? []).filter(
          (known) => known.at > at - maxLink && !(known.user_id === userId && known.token_id === tokenId),
        )
        const removals = [...live, { user_id: userId, token_id: tokenId, at, until }].slice(-maxOfRoom)
        transaction.put('rooms', roomId, { ...room, removals })
      })
    } catch (error) {
      this.#logger.error({ err: error, room: roomId }, 'a removal could not be stored')
    }
  }
}
