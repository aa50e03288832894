import { mustNotFail } from '../../shared/unawaited.ts'
import { maxRemovalsOfRoom, type Removal } from '../../shared/media/control.ts'
import { everybody, RemovalTable } from '../../shared/media/removal-table.ts'
import type { Settings } from '../../shared/settings.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Participant, RemovalsPort } from '../nodes/port/removals-port.ts'
import type { StoredCapability } from '../store/capability-record.ts'
import type { StoredRemoval, StoredRoom } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { startTimer, type Timer } from '../store/system/time.ts'

/** Maximum lifetime of join links for one user, in milliseconds: older revocations have no effect. */
const { maxMs: maxLinkMs } = tokenKinds.join.lifetime
/** Delay before storing a removal again that the store did not confirm, in milliseconds. */
const retryMs = 2_000

export interface RemovalsOptions {
  store: Pick<Store, 'all' | 'get' | 'transact'>
  settings: () => Settings
  logger: Pick<NodeLogger, 'error'>
}

/**
 * Removals of people from the rooms of the site. They are stored with the rooms, so that old links do not admit removed
 * people after a restart, and are sent to every node. A removal that the store did not confirm is stored again after a
 * delay, or at the next change.
 * A removal under an unproven user id must not affect the real owner of the id. It is kept only in memory, and applies
 * only to unproven participants.
 */
export class Removals implements RemovalsPort {
  readonly #options: RemovalsOptions
  readonly #table = new RemovalTable()
  /** Removal lists of rooms that were already added to the table. */
  readonly #read = new WeakSet<readonly StoredRemoval[]>()
  /** End of each removal of an unproven participant, in milliseconds since the epoch, by room and user id. */
  readonly #unproven = new Map<string, number>()
  /** Removals that the store has not confirmed. */
  readonly #unstored = new Set<Removal>()
  #retry: Timer | undefined
  readonly #listeners: ((removal: Removal, by: object | undefined) => void)[] = []

  constructor(options: RemovalsOptions) {
    this.#options = options
    const stored: Removal[] = []
    for (const [roomId, room] of options.store.all('rooms')) stored.push(...this.#unread(roomId, room))
    for (const capability of options.store.all('capabilities').values()) stored.push(...revocationOf(capability))
    for (const removal of stored.sort((one, other) => one.at - other.at)) this.#table.add(removal)
  }

  list(): Removal[] {
    return this.#table.list()
  }

  refuses({ roomId, userId, proven }: Participant): boolean {
    const now = Date.now()
    if (this.#table.refuses(roomId, userId, now)) return true
    return !proven && (this.#unproven.get(JSON.stringify([roomId, userId])) ?? 0) > now
  }

  onRemoval(listener: (removal: Removal, by: object | undefined) => void): void {
    this.#listeners.push(listener)
  }

  async note(removal: Removal, by?: object): Promise<void> {
    this.#take(removal, by)
    this.#unstored.add(removal)
    await this.#keep(removal)
  }

  async remove({ roomId, userId, proven }: Participant): Promise<void> {
    const at = Date.now()
    const until = at + this.#options.settings().media.ban_ms
    if (proven) return await this.note({ roomId, userId, tokenId: '', at, until })
    for (const [key, over] of this.#unproven) if (over <= at) this.#unproven.delete(key)
    this.#unproven.set(JSON.stringify([roomId, userId]), until)
  }

  /** Revokes the link of a room with this id; empty id: all existing links. People in the room stay. */
  async revokeLinks(roomId: string, tokenId: string): Promise<void> {
    const at = Date.now()
    await this.note({ roomId, userId: everybody, tokenId, at, until: tokenId === '' ? at : at + maxLinkMs })
  }

  /** Applies changes of the store: revokes ended join links, and adds removals of rooms restored from a backup. */
  follow(changes: readonly Change[]): void {
    // A change shows that the store is writable again.
    if (this.#retry !== undefined) this.#keepAgain()
    for (const change of changes) {
      if (change.collection === 'capabilities' && change.value !== undefined) {
        for (const removal of revocationOf(change.value)) this.#take(removal, undefined)
      }
      if (change.collection !== 'rooms' || change.value?.removals === undefined) continue
      for (const removal of this.#unread(change.key, change.value)) {
        if (!this.#table.has(removal)) this.#take(removal, undefined)
      }
    }
  }

  /** Ends the retries. Called when this controller is no longer the leader. */
  stop(): void {
    this.#retry?.cancel()
    this.#unstored.clear()
  }

  #take(removal: Removal, by: object | undefined): void {
    this.#table.add(removal)
    for (const listener of this.#listeners) listener(removal, by)
  }

  /** Returns the removals in a room's record; empty: this list was already read. */
  #unread(roomId: string, { removals }: Pick<StoredRoom, 'removals'>): Removal[] {
    if (removals === undefined || this.#read.has(removals)) return []
    this.#read.add(removals)
    return removals.map(({ user_id, token_id, at, until }) => ({
      roomId,
      userId: user_id,
      tokenId: token_id,
      at,
      until,
    }))
  }

  #keepAgain(): void {
    this.#retry?.cancel()
    this.#retry = undefined
    for (const removal of this.#unstored) mustNotFail(this.#keep(removal))
  }

  /** Stores a removal with its room. Never rejects. */
  async #keep(removal: Removal): Promise<void> {
    const { roomId, userId, tokenId, at, until } = removal
    const { store, logger } = this.#options
    try {
      await store.transact([`rooms/${roomId}`], (transaction) => {
        const room: StoredRoom | undefined = store.get('rooms', roomId)
        if (room === undefined) return
        const isSame = (known: StoredRemoval): boolean => known.user_id === userId && known.token_id === tokenId
        // An earlier attempt was stored without confirmation, or a later removal is already stored.
        if (room.removals?.some((known) => isSame(known) && known.at >= at) === true) return
        const live = (room.removals ?? []).filter((known) => known.at > at - maxLinkMs && !isSame(known))
        const all = [...live, { user_id: userId, token_id: tokenId, at, until }]
        // Revocations of all links of the room are kept, regardless of the number of later removals.
        const limited = all.filter((known) => known.user_id !== everybody || known.token_id !== '')
        const tooMany = new Set(limited.slice(0, Math.max(0, limited.length - maxRemovalsOfRoom)))
        transaction.put('rooms', roomId, { ...room, removals: all.filter((known) => !tooMany.has(known)) })
      })
      this.#unstored.delete(removal)
    } catch (error) {
      logger.error({ err: error, room: roomId }, 'a removal could not be stored: retrying')
      if (this.#unstored.has(removal)) this.#retry ??= startTimer(retryMs, () => this.#keepAgain(), false)
    }
  }
}

/**
 * Returns the revocation of a join link, sent to nodes because they verify links themselves; empty: the link has not
 * ended.
 */
function revocationOf(capability: StoredCapability): Removal[] {
  if (capability.kind !== 'join' || capability.ended_at === undefined) return []
  const { room_id: roomId, link: tokenId, ended_at: at, expires_at: until } = capability
  return [{ roomId, userId: everybody, tokenId, at, until }]
}
