import { defaultSettings } from '../../shared/settings.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Change, CollectionName, Collections, Store, Transaction } from '../../server/store/store.ts'

type Maps = { [C in CollectionName]: Map<string, Collections[C]> }

/** What a test can make the disk do. */
export interface MemoryStore extends Store {
  /** The next transactions that change something fail as on a disk that refuses. */
  refuse(refusing: boolean): void
}

/**
 * A store without files, for tests of parts that need a store and not its durability: locks, atomic plans that are visible only after a tick of the "disk", change events.
 */
export function memoryStore(): MemoryStore {
  const maps: Maps = {
    settings: new Map([['site', defaultSettings()]]),
    licence: new Map(),
    credentials: new Map(),
    nodes: new Map(),
    devices: new Map(),
    rooms: new Map(),
    sessions: new Map(),
  }
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const tails = new Map<string, Promise<unknown>>()
  let roomNumber = 0
  let refusing = false
  let stalled: { promise: Promise<void>; end: () => void } | undefined

  const put = <C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): void => {
    if (value === undefined) maps[collection].delete(key)
    else maps[collection].set(key, value)
  }
  const apply = (changes: readonly Change[]): void => {
    for (const change of changes) put(change.collection, change.key, change.value)
    for (const listener of listeners) listener(changes)
  }
  // A change's collection and value belong together by the caller's types; TypeScript cannot carry that through a generic literal.
  const changeOf = <C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): Change =>
    ({ collection, key, value }) as Change

  const run = async <T>(plan: (transaction: Transaction) => T): Promise<T> => {
    const changes: Change[] = []
    const result = plan({
      put: (collection, key, value) => void changes.push(changeOf(collection, key, structuredClone(value))),
      delete: (collection, key) => void changes.push(changeOf(collection, key, undefined)),
    })
    if (changes.length === 0) return result
    await new Promise((resolve) => setImmediate(resolve))
    await stalled?.promise
    if (refusing) throw new ApiError('storage')
    apply(changes)
    return result
  }

  return {
    get: (collection, key) => maps[collection].get(key),
    all: (collection) => maps[collection],
    transact(locks, plan) {
      const before = Promise.all(locks.map((lock) => tails.get(lock)))
      const result = before.then(() => run(plan))
      const tail = result.catch(() => undefined)
      for (const lock of locks) tails.set(lock, tail)
      return result
    },
    applySoon: (collection, key, value) => apply([changeOf(collection, key, value)]),
    nextRoomNumber: () => (roomNumber += 1),
    responsive: () => undefined,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onNotice: () => () => undefined,
    status: () => ({
      healthy: !refusing,
      lastError: undefined,
      backlog: 0,
      flushingFor: 0,
      lastFlush: 0,
      journalBytes: 0,
      snapshotAt: 0,
      notices: [],
    }),
    onFlush: () => () => undefined,
    seal: (secret) => `sealed:${secret}`,
    unseal: (sealed) => sealed.slice('sealed:'.length),
    stall(wish) {
      stalled?.end()
      stalled = undefined
      if (!wish) return
      const { promise, resolve } = Promise.withResolvers<void>()
      stalled = { promise, end: resolve }
    },
    refuse: (wish) => {
      refusing = wish
    },
    snapshot: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
