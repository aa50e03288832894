import type { Store } from '../../../server/store/store.ts'
import { room } from './store-site.ts'

/** Number of rooms of a site whose restore is stored in parts. */
export const largeSiteRooms = 30_000

/** Stores so many rooms, and makes a backup of them. Returns its name. */
export async function fillLargeSite(store: Store, topic: string): Promise<string> {
  for (let from = 0; from < largeSiteRooms; from += 1_000) {
    await store.transact([], (transaction) => {
      for (let at = from; at < from + 1_000; at++)
        transaction.put('rooms', `room-${at}`, room(`room-${at}`, at + 1, `${topic} ${at} ${'x'.repeat(200)}`))
    })
  }
  return (await store.backups.make(true)).name
}
