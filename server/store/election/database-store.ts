import { inTime } from '../system/time.ts'
import { DurableStore, type DurableStoreOptions } from '../durable/durable-store.ts'
import type { KnownController, FencedStore } from './site-member.ts'
import { notStored, storageError } from '../storage-error.ts'
import { HandedOverError } from '../postgres/database-error.ts'
import type { DatabaseStorage } from '../postgres/database-storage.ts'
import { nameSuccessor } from './leader.ts'
import type { Lease } from './lease.ts'
import { confirmedViewOf } from '../leadership.ts'
import type { Leadership } from '../store.ts'

/** The store of the leader of a site in a database. */
export class DatabaseStore extends DurableStore implements FencedStore {
  readonly storage: DatabaseStorage
  readonly #lease: Lease | undefined
  readonly #leadership: Leadership | undefined

  /** @param options `lease` left out: there are no other controllers, and the lock alone proves the leadership */
  constructor(options: DurableStoreOptions & { storage: DatabaseStorage; lease?: Lease }) {
    super(options)
    this.storage = options.storage
    this.#lease = options.lease
    this.#leadership = options.lease === undefined ? undefined : leadershipBy(this, options.lease)
  }

  override get leadership(): Leadership {
    return this.#leadership ?? super.leadership
  }

  get epoch(): string {
    return this.storage.link.term.epoch
  }

  get fenced(): Promise<Error> {
    return this.storage.link.whenFenced
  }

  confirmed(): Promise<void> | undefined {
    const unsure = this.#lease?.confirmed()
    if (unsure === undefined) return undefined
    const reason = 'the database does not confirm that this controller leads'
    return inTime(unsure, this.deadlineMs, () => notStored(reason), false)
  }

  /**
   * Hands over to another controller: stores pending changes, names the successor, and stores nothing afterwards.
   * @param forMs how long other controllers wait for the successor, in milliseconds
   * @throws ApiError 'storage' when the changes or the successor cannot be stored in time; this controller then
   * continues to lead
   */
  async handOver(to: KnownController, forMs: number, deadlineMs: number): Promise<void> {
    const { link } = this.storage
    const resume = await this.holdChanges(deadlineMs)
    try {
      const { session, term } = link.current()
      // Reads stop first: the successor may answer requests at once.
      const goOn = this.#lease?.pause()
      try {
        if (!(await nameSuccessor(session, term, to.id, forMs, this.storage.roomNumber)))
          throw new Error('another controller leads already')
      } catch (error) {
        goOn?.()
        throw error
      }
      link.fence(new HandedOverError(to.name, { ...to, role: 'leader' }), session)
    } catch (error) {
      throw storageError(error)
    } finally {
      resume()
    }
  }

  protected override isFollowed(): boolean {
    return this.#lease?.others ?? false
  }

  override close(): Promise<void> {
    this.#lease?.end()
    return super.close()
  }
}

/** Returns the leadership of a store with a lease: another controller may take over. */
function leadershipBy(store: DatabaseStore, { held }: Lease): Leadership {
  const view = confirmedViewOf(store)
  return {
    confirmed() {
      const unsure = store.confirmed()
      return unsure === undefined ? view : unsure.then(() => view)
    },
    get isHeld() {
      return held.isHeld
    },
    onChange: (listener) => held.onChange(listener),
    signal: () => held.signal(),
  }
}
