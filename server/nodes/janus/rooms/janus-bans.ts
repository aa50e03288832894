import type { Settings } from '../../../../shared/settings.ts'
import type { Store } from '../../../store/store.ts'
import { StoredRemovals } from '../../port/stored-removals.ts'
import type { NodeLogger } from '../../port/node-failure.ts'

/** A participant of a room, as far as bans are concerned. */
export interface BannedAs {
  roomId: string
  userId: string
  /** The id was proven, by the room page or a token. Otherwise anybody may have called themselves so, on a node that asks for no tokens. */
  proven: boolean
}

/**
 * Participants who were removed from rooms on Janus nodes, and are refused for the time of the setting. A removal under a proven id is stored and concerns
 * everybody who comes under that id. A removal under an unproven id says nothing of the person whose id it is: it is kept in memory and concerns unproven arrivals only.
 */
export class JanusBans {
  readonly #store: Pick<Store, 'all' | 'get' | 'transact'>
  readonly #settings: () => Settings
  readonly #removals: StoredRemovals
  /** End of each ban in milliseconds since the epoch, by participant: the store is a moment behind. */
  readonly #until = new Map<string, number>()

  constructor(store: Pick<Store, 'all' | 'get' | 'transact'>, settings: () => Settings, logger: NodeLogger) {
    this.#store = store
    this.#settings = settings
    this.#removals = new StoredRemovals(store, logger)
  }

  /** Bans a participant who is being removed; resolves when that is kept. Never rejects. */
  async add(banned: BannedAs): Promise<void> {
    const { roomId, userId, proven } = banned
    const at = Date.now()
    const until = at + this.#settings().media.ban_ms
    for (const [key, over] of this.#until) if (over <= at) this.#until.delete(key)
    this.#until.set(keyOf(banned), until)
    if (proven) await this.#removals.keep({ roomId, userId, tokenId: '', at, until })
  }

  /** Whether a participant may not come in now. */
  refuses({ roomId, userId, proven }: BannedAs): boolean {
    const now = Date.now()
    const isKept = (as: boolean): boolean => (this.#until.get(keyOf({ roomId, userId, proven: as })) ?? 0) > now
    if (isKept(true) || (!proven && isKept(false))) return true
    const removals = this.#store.get('rooms', roomId)?.removals ?? []
    return removals.some(({ user_id, until }) => user_id === userId && until > now)
  }
}

function keyOf({ roomId, userId, proven }: BannedAs): string {
  return JSON.stringify([roomId, userId, proven])
}
