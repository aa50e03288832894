import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { growingTo } from '../../shared/growing-cache.ts'
import { capabilityAccess } from '../../shared/console/capability-access.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { isExpired } from '../../shared/tokens.ts'
import { tokenDigest } from '../../shared/files/signed-tokens.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type {
  StoredCapabilityKind,
  CapabilityMaker,
  CapabilityOf,
  StoredCapability,
} from '../store/capability-record.ts'
import { afterRevocation, endOfMaker, isContentThere, isMakerEnabled, isOver } from '../store/capability-rules.ts'
import type { Change, ConfirmedView, Store, Transaction } from '../store/store.ts'
import {
  type Capability,
  type CapabilityDraft,
  type CapabilityFilter,
  isMadeBy,
  type ListedCapability,
  type NewCapability,
  type RevocationGuard,
} from './capability.ts'
import { LinkIndex } from './link-index.ts'

export interface CapabilitiesDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'writeBehind' | 'onChange'>
  /** Milliseconds since the epoch. */
  clock: () => number
  /** Called when a capability is used. @param client address of its holder */
  used: (capability: Capability, client: string) => void
  logger: { warn(fields: object, message: string): void }
}

const tokenForm = /^[\w-]{16,1500}$/
const lock = 'capabilities'
/** Interval at which expired capabilities are removed, in milliseconds. */
const sweepMs = 60_000
/** Maximum number of capabilities ended per transaction. */
const atOnce = 1_000
/** Minimum interval between two stored uses of a capability, in milliseconds. */
const saveEveryMs = 60_000
/** Maximum number of ended capabilities that are remembered, so that their use does not count as guessing. */
const maxEnded = 10_000

/**
 * Capabilities: stored records that give the holder of a token access to media or to a room. Each has a maker, is
 * listed, can be revoked, and is checked at each use.
 */
export class Capabilities {
  readonly #dependencies: CapabilitiesDependencies
  readonly #ended = new LRUCache<string, true>(growingTo(maxEnded))
  readonly #endListeners = new Map<string, Set<() => void>>()
  readonly #links = new LinkIndex()
  readonly #stopFollowing: () => void
  readonly #startedAt: number
  #timer: NodeJS.Timeout | undefined

  constructor(dependencies: CapabilitiesDependencies) {
    this.#dependencies = dependencies
    this.#startedAt = dependencies.clock()
    for (const [id, record] of dependencies.store.all('capabilities')) this.#links.add(id, record)
    this.#stopFollowing = dependencies.store.onChange(
      (changes, before) => this.#follow(changes, before),
      ['capabilities'],
    )
  }

  /** Starts removing expired capabilities, including exports of an earlier run. */
  start(): void {
    mustNotFail(this.#sweep())
    this.#timer = setInterval(() => mustNotFail(this.#sweep()), sweepMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#stopFollowing()
  }

  /** Prepares a capability, to be stored by `put`. @param token default: a random token of 192 bits */
  prepare(
    draft: CapabilityDraft,
    maker: CapabilityMaker,
    token: string = randomBytes(24).toString('base64url'),
  ): NewCapability {
    const role = draft.kind === 'join' && draft.standing === 'host' ? 'operator' : capabilityAccess[draft.kind].role
    const ownEnd = endOfMaker(this.#dependencies.store, maker)
    const expiresAt = draft.expires_at === 0 ? ownEnd : Math.min(draft.expires_at, ownEnd)
    const generation =
      maker.type === 'credential'
        ? this.#dependencies.store.get('credentials', maker.access_key)?.generation
        : undefined
    const record: StoredCapability = {
      ...draft,
      ...(generation !== undefined && { generation }),
      ...{
        maker,
        role,
        created_at: this.#dependencies.clock(),
        expires_at: expiresAt === Number.POSITIVE_INFINITY ? 0 : expiresAt,
      },
    }
    return { id: tokenDigest(token), token, record }
  }

  /**
   * Stores a capability within a transaction.
   * @throws ApiError recordingUnavailable if there are too many links, tokenIncorrect if the maker is not enabled
   */
  put(transaction: Transaction, { id, record }: NewCapability): void {
    const { store } = this.#dependencies
    if (!isMakerEnabled(store, record)) throw new ApiError('tokenIncorrect')
    this.#makeRoom(transaction, record)
    transaction.put('capabilities', id, record)
  }

  /** Creates a capability. @throws ApiError as `put` does; storage */
  async make(draft: CapabilityDraft, maker: CapabilityMaker, token?: string): Promise<NewCapability> {
    const made = this.prepare(draft, maker, token)
    await this.#dependencies.store.transact([lock], (transaction) => this.put(transaction, made))
    return made
  }

  /**
   * Checks a token, and records its use.
   * @param view records confirmed by the leader, because another controller may have revoked the token
   * @param client address of the holder
   * @returns undefined if the token gives no access of these kinds now
   */
  open<K extends StoredCapabilityKind>(
    view: ConfirmedView,
    token: string,
    kinds: readonly K[],
    client: string,
  ): Capability<K> | undefined {
    if (!tokenForm.test(token)) return undefined
    const { clock, used } = this.#dependencies
    const id = tokenDigest(token)
    const record = view.get('capabilities', id)
    if (record === undefined || !isOfKind(record, kinds) || isOver(record, clock())) return undefined
    if (!isMakerEnabled(view, record) || !isContentThere(view, record)) return undefined
    // This is the only place that creates the proof `opened`.
    const capability = { ...record, id } as Capability<K>
    this.#noteUse(id)
    used(capability, client)
    return capability
  }

  /** Whether the capability of a token is stored, or has ended recently. */
  hasEnded(token: string): boolean {
    const id = tokenDigest(token)
    return this.#ended.has(id) || this.#dependencies.store.get('capabilities', id) !== undefined
  }

  /**
   * Checks a token sent by a signed-in user, and records its use. Does not call `used`: the caller writes an event with
   * the account.
   */
  openSignedIn(token: string): boolean {
    const id = tokenDigest(token)
    const isOpen = tokenForm.test(token) && this.isInForce(id)
    if (isOpen) this.#noteUse(id)
    return isOpen
  }

  /** Whether a capability is valid: not ended, with an enabled maker and existing content. */
  isInForce(id: string): boolean {
    const { store, clock } = this.#dependencies
    const record = store.get('capabilities', id)
    return (
      record !== undefined && !isOver(record, clock()) && isMakerEnabled(store, record) && isContentThere(store, record)
    )
  }

  /** Calls the listener once when a capability ends. Returns the unsubscribe function. */
  onEnd({ id }: Pick<Capability, 'id'>, listener: () => void): () => void {
    const listeners = this.#endListeners.get(id) ?? new Set()
    this.#endListeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#endListeners.delete(id)
    }
  }

  /** Lists valid capabilities, the newest first. */
  list(filter: CapabilityFilter = {}): ListedCapability[] {
    const { store } = this.#dependencies
    return this.#matching(filter)
      .filter(([id]) => this.isInForce(id))
      .map(([id, record]) => ({ ...record, id, last_used_at: store.get('last_uses', id)?.at ?? 0 }))
      .toSorted((one, other) => other.created_at - one.created_at)
  }

  /**
   * Ends capabilities, including capabilities that are being stored. Returns the number of ended capabilities that were
   * valid.
   * @param selection ids, or a filter
   * @throws errors of the guard, before any capability has ended; ApiError storage
   */
  async revoke(selection: readonly string[] | CapabilityFilter, guard: RevocationGuard): Promise<number> {
    const { store } = this.#dependencies
    let ended = 0
    for (;;) {
      const { taken, inForce } = await store.transact([lock], (transaction) => {
        const ids = isList(selection) ? selection : this.#matching(selection).map(([id]) => id)
        // Those that open nothing now, such as links of a room in the trash, would open again with their room.
        const pending = ids.filter((id) => this.#mayOpen(id))
        const kinds = new Set(pending.flatMap((id) => store.get('capabilities', id)?.kind ?? []))
        for (const kind of kinds) guard(kind)
        const now = pending.slice(0, atOnce)
        const valid = now.filter((id) => this.isInForce(id)).length
        for (const id of now) this.#end(transaction, id)
        return { taken: now.length, inForce: valid }
      })
      ended += inForce
      if (taken < atOnce) return ended
    }
  }

  /** Ends the join links of an earlier room with the same number, in the transaction that creates the new room. */
  endJoinLinks(transaction: Transaction, roomId: string): void {
    for (const id of this.#links.ofRoom('join', roomId)) this.#end(transaction, id)
  }

  #matching({ roomId, maker }: CapabilityFilter): [string, StoredCapability][] {
    return [...this.#dependencies.store.all('capabilities')].filter(
      ([, record]) =>
        (roomId === undefined || record.room_id === roomId) && (maker === undefined || isMadeBy(record.maker, maker)),
    )
  }

  /** Whether a capability is stored, and neither revoked nor expired. */
  #mayOpen(id: string): boolean {
    const record = this.#dependencies.store.get('capabilities', id)
    return record !== undefined && !isOver(record, this.#dependencies.clock())
  }

  #end(transaction: Transaction, id: string): void {
    const record = this.#dependencies.store.get('capabilities', id)
    const after = record && afterRevocation(record, this.#dependencies.clock())
    if (after === undefined) transaction.delete('capabilities', id)
    else transaction.put('capabilities', id, after)
  }

  /**
   * Enforces the limits by deleting expired links. Valid links are never deleted: a deleted link could not be revoked.
   */
  #makeRoom(transaction: Transaction, record: StoredCapability): void {
    const { store, clock } = this.#dependencies
    const now = clock()
    const hasExpired = (id: string): boolean => {
      const known = store.get('capabilities', id)
      return known !== undefined && isExpired(known.kind, known, now)
    }
    for (const full of this.#links.full(record)) {
      const expired = [...full].filter(hasExpired).slice(0, atOnce)
      if (expired.length === 0) throw new ApiError('recordingUnavailable', { refusal: refusal('tooManyLinks') })
      for (const id of expired) transaction.delete('capabilities', id)
    }
  }

  #noteUse(id: string): void {
    const { store, clock } = this.#dependencies
    const now = clock()
    if (now - (store.get('last_uses', id)?.at ?? 0) >= saveEveryMs) store.writeBehind('last_uses', id, { at: now })
  }

  #follow(changes: readonly Change[], before: readonly Change['value'][]): void {
    for (const [index, change] of changes.entries()) {
      if (change.collection !== 'capabilities') continue
      if (change.value !== undefined) this.#links.add(change.key, change.value)
      // The previous value is a record of the same collection.
      else if (before[index] !== undefined) this.#forget(change.key, before[index] as StoredCapability)
    }
  }

  #forget(id: string, record: StoredCapability): void {
    this.#links.remove(id, record)
    this.#ended.set(id, true)
    const listeners = [...(this.#endListeners.get(id) ?? [])]
    this.#endListeners.delete(id)
    for (const listener of listeners) listener()
    if (this.#dependencies.store.get('last_uses', id) !== undefined)
      this.#dependencies.store.writeBehind('last_uses', id, undefined)
  }

  /** Deletes expired capabilities, and capabilities whose content was deleted. Never rejects. */
  async #sweep(): Promise<void> {
    const { store, clock, logger } = this.#dependencies
    const isDead = (record: StoredCapability | undefined): boolean => {
      if (record === undefined) return false
      if (isExpired(record.kind, record, clock())) return true
      if (record.kind === 'export' && record.created_at < this.#startedAt) return true
      return record.kind !== 'join' && !(isMakerEnabled(store, record) && isContentThere(store, record))
    }
    const lost = lostLinks(store)
    const dead = [...store.all('capabilities')].filter(([, record]) => isDead(record)).map(([id]) => id)
    try {
      for (let from = 0; from < dead.length; from += atOnce)
        await store.transact([lock], (transaction) => {
          for (const id of dead.slice(from, from + atOnce))
            if (isDead(store.get('capabilities', id))) transaction.delete('capabilities', id)
        })
      for (let from = 0; from < lost.length; from += atOnce)
        await store.transact([lock], (transaction) => {
          for (const id of lost.slice(from, from + atOnce)) this.#end(transaction, id)
        })
    } catch (error) {
      logger.warn({ err: error }, 'expired capabilities could not be removed')
    }
  }
}

/** Returns the join links without expiry whose room was deleted permanently. */
function lostLinks(store: Pick<Store, 'get' | 'all'>): string[] {
  const links = [...store.all('capabilities')].filter(
    ([, record]) => isEndless(record) && !isContentThere(store, record),
  )
  if (links.length === 0) return []
  const trashed = new Set(
    [...store.all('trash').values()].flatMap(({ kind, record }) => (kind === 'rooms' ? record.room_id : [])),
  )
  return links.filter(([, { room_id }]) => !trashed.has(room_id)).map(([id]) => id)
}

function isEndless(record: StoredCapability): boolean {
  return record.kind === 'join' && record.expires_at === 0 && record.ended_at === undefined
}

function isList(selection: readonly string[] | CapabilityFilter): selection is readonly string[] {
  return Array.isArray(selection)
}

function isOfKind<K extends StoredCapabilityKind>(
  record: StoredCapability,
  kinds: readonly K[],
): record is CapabilityOf<K> {
  return kinds.some((kind) => kind === record.kind)
}
