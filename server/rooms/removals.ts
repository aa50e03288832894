import { mustNotFail } from '../../shared/unawaited.ts'
import { maxRemovalsOfRoom, type Removal } from '../../shared/media/control.ts'
import { everybody, RemovalTable } from '../../shared/media/removal-table.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Participant, RemovalsPort } from '../nodes/port/removals-port.ts'
import type { StoredCapability } from '../store/capability-record.ts'
import type { StoredRemoval, StoredRoom } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { startTimer, type Timer } from '../store/system/time.ts'

/** No join link lives longer, in milliseconds: what was revoked before that is over anyway. */
const maxLink = 30 * 24 * 60 * 60_000
/** Pause after a removal that the store did not confirm, in milliseconds. */
const retryMs = 2_000

/** Dependencies of the memory of removals. */
export interface RemovalsOptions {
  store: Pick<Store, 'all' | 'get' | 'transact'>
  settings: () => Settings
  logger: Pick<NodeLogger, 'error'>
}

/**
 * The site's one memory of removals from rooms. It is stored with the rooms, so that a restart lets nobody back in by an old link, and every node gets it.
 * One that the store did not confirm is stored again: after a pause, or at the next change.
 * A removal under an unproven id does not concern the person whose id it is: it stays in memory and applies to unproven arrivals only.
 */
export class Removals implements RemovalsPort {
  readonly #options: RemovalsOptions
  readonly #table = new RemovalTable()
  /** Records of rooms whose removals are in the table: they are read once. */
  readonly #read = new WeakSet<readonly StoredRemoval[]>()
  /** End of each mark by room and unproven id, milliseconds since the epoch. */
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

  /** Links of a room let nobody in from now on: the one of this id, or with an empty one all that were made until now. Who is in stays. */
  async revokeLinks(roomId: string, tokenId: string): Promise<void> {
    const at = Date.now()
    await this.note({ roomId, userId: everybody, tokenId, at, until: tokenId === '' ? at : at + maxLink })
  }

  /** Follows join links that end with their maker, and rooms that came back from a backup with removals of their own. */
  follow(changes: readonly Change[]): void {
    // The store takes changes again.
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

  /** Ends retries: this controller does not store any more. */
  stop(): void {
    this.#retry?.cancel()
    this.#unstored.clear()
  }

  #take(removal: Removal, by: object | undefined): void {
    this.#table.add(removal)
    for (const listener of this.#listeners) listener(removal, by)
  }

  /** The removals of a room's record, when they were not read yet. */
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

  /** Never rejects. */
  async #keep(removal: Removal): Promise<void> {
    const { roomId, userId, tokenId, at, until } = removal
    const { store, logger } = this.#options
    try {
      await store.transact([`rooms/${roomId}`], (transaction) => {
        const room: StoredRoom | undefined = store.get('rooms', roomId)
        if (room === undefined) return
        const isSame = (known: StoredRemoval): boolean => known.user_id === userId && known.token_id === tokenId
        // An earlier attempt was stored without an answer, or a later removal came first.
        if (room.removals?.some((known) => isSame(known) && known.at >= at) === true) return
        const live = (room.removals ?? []).filter((known) => known.at > at - maxLink && !isSame(known))
        const all = [...live, { user_id: userId, token_id: tokenId, at, until }]
        // The end of every link of the room stays, whatever number of users is removed behind it.
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

/** Revocation of a join link that has ended, for the nodes, which check links by themselves. */
function revocationOf(capability: StoredCapability): Removal[] {
  if (capability.kind !== 'join' || capability.ended_at === undefined) return []
  const { room_id: roomId, link: tokenId, ended_at: at, expires_at: until } = capability
  return [{ roomId, userId: everybody, tokenId, at, until }]
}
