import { setImmediate as immediate } from 'node:timers/promises'
import { sleep } from '../../shared/sleep.ts'
import type { Logger } from 'pino'
import { accountLocks } from './accounts/accounts.ts'
import {
  placeOfRecord,
  type SealedCollection,
  sealedCollections,
  sealedTextOf,
  withSealedText,
  withTrashTexts,
} from '../store/sealed-places.ts'
import { isOutdated } from '../store/sealer.ts'
import { isSealedForPlaces, resealed, sealedMarks, withPlacedSecrets } from '../store/site-settings.ts'
import type { StoredTrash } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { lockOfTrash } from '../store/trash.ts'

/** Number of records inspected per event loop turn, which takes well below a millisecond. */
const inspectedAtOnce = 1_000
/** Number of records resealed together, which takes about a millisecond. */
const resealedAtOnce = 50
/** Delay after an error of the store, in milliseconds. */
const retryMs = 30_000

/**
 * Reseals secrets of an earlier version for their places while the site runs. Then marks the site as sealed, so that
 * texts of the earlier version are rejected. After an error of the store, tries again; the next start continues an
 * interrupted run. Never rejects.
 */
export async function resealSecrets(store: Store, signal: AbortSignal, logger: Logger): Promise<void> {
  try {
    // The start of the program takes precedence.
    await immediate(undefined, { signal })
    while (!isSealedForPlaces(store)) {
      try {
        const count = await resealAll(store, signal)
        if (count > 0) logger.info({ secrets: count }, 'secrets sealed for their records')
        return
      } catch (error) {
        if (signal.aborted) return
        logger.warn({ err: error }, 'secrets not sealed for their records yet, trying again')
        await sleep(retryMs, { signal, ref: false })
      }
    }
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'sealing secrets for their records failed')
  }
}

/** Reseals all outdated secrets. Returns the number of resealed records. */
async function resealAll(store: Store, signal: AbortSignal): Promise<number> {
  let count = 0
  let inspected = 0
  for (const collection of sealedCollections) {
    let pending: Promise<void>[] = []
    for (const [key, record] of store.all(collection)) {
      if (isOutdated(sealedTextOf(collection, record), placeOfRecord(collection, key, record)))
        pending.push(resealOne(store, collection, key))
      if (pending.length >= resealedAtOnce) {
        count += pending.length
        await Promise.all(pending)
        pending = []
      } else if (++inspected % inspectedAtOnce === 0) await immediate()
      signal.throwIfAborted()
    }
    count += pending.length
    await Promise.all(pending)
  }
  count += await resealTrash(store, signal)
  signal.throwIfAborted()
  await store.transact(accountLocks, (transaction) => {
    const settings = store.get('settings', 'site')
    if (settings === undefined) return
    transaction.put('settings', 'site', { ...withPlacedSecrets(settings, store), ...sealedMarks })
  })
  return count
}

/** Reseals outdated secrets in the trash. Returns the number of resealed entries. */
async function resealTrash(store: Store, signal: AbortSignal): Promise<number> {
  const placed = (entry: StoredTrash): StoredTrash =>
    withTrashTexts(entry, (text, place) => (isOutdated(text, place) ? resealed(text, place, store) : text))
  let [count, inspected] = [0, 0]
  for (const [id, entry] of store.all('trash')) {
    if (++inspected % inspectedAtOnce === 0) await immediate()
    signal.throwIfAborted()
    if (placed(entry) === entry) continue
    count++
    await store.transact([lockOfTrash(id)], (transaction) => {
      const now = store.get('trash', id)
      if (now !== undefined) transaction.put('trash', id, placed(now))
    })
  }
  return count
}

/** Reseals the secret of one record. Leaves a text that cannot be unsealed unchanged. */
async function resealOne(store: Store, collection: SealedCollection, key: string): Promise<void> {
  for (;;) {
    const locks = locksOf(store, collection, key)
    const done = await store.transact(locks, (transaction) => {
      // A device may have been moved to another room while this call waited.
      if (locks.join() !== locksOf(store, collection, key).join()) return false
      const record = store.get(collection, key)
      if (record === undefined) return true
      const text = sealedTextOf(collection, record)
      const place = placeOfRecord(collection, key, record)
      if (!isOutdated(text, place)) return true
      const after = resealed(text, place, store)
      if (after !== text) transaction.put(collection, key, withSealedText(collection, record, after))
      return true
    })
    if (done) return
  }
}

/**
 * Returns the locks that every change of a record holds. The locks of a device include its room, because deleting a
 * room deletes its devices.
 */
function locksOf(store: Store, collection: SealedCollection, key: string): readonly string[] {
  if (collection === 'accounts') return accountLocks
  const lock = `${collection}/${key}`
  const room = collection === 'devices' ? store.get('devices', key)?.roomId : undefined
  return room === undefined ? [lock] : [`rooms/${room}`, lock]
}
