import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KnownController, LedStore, SiteMember } from '../site-member.ts'
import { controllerId } from './controller-id.ts'
import { parseDatabaseAddress } from './database-address.ts'
import { DatabaseInUseError } from './database-error.ts'
import { defaultTimes, type MemberOptions } from './member-options.ts'
import { openDatabase, siteInDatabase } from './open-database.ts'

/**
 * Joins the controllers of the site that a database holds: this one follows it into memory, and can lead it.
 * @throws DatabaseError when the database cannot be used (while it is away: see `whenAway`), StoreVersionError when a newer Roomdesk wrote it,
 * StoreLockedError when another process has the data folder
 */
export async function openMember(options: MemberOptions): Promise<SiteMember> {
  const { folder, database, migrations, name, version, clock = Date.now } = options
  const { shown } = parseDatabaseAddress(database)
  const times = { ...defaultTimes, ...options.times }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const id = await controllerId(folder)
  const state = await siteInDatabase(database, migrations)
  let store: LedStore | undefined
  const place = { media: '', device: '', node: '', console: '', event: '', certificate: '' }
  const since = clock()
  const self = (): KnownController => {
    const role = store === undefined ? 'standby' : 'leader'
    return { id, name, version, place, role, behind: 0, behindFor: 0, seenAt: clock(), since }
  }
  return {
    id,
    followed: {
      get: (collection, key) => (store === undefined ? state[collection].get(key) : store.get(collection, key)),
      all: (collection) => (store === undefined ? state[collection] : store.all(collection)),
      onChange: () => () => undefined,
    },
    announce: (announced) => void Object.assign(place, announced),
    leader: () => (store === undefined ? undefined : self()),
    onLeader: () => () => undefined,
    controllers: () => Promise.resolve([self()]),
    database: () => ({ shown, awaySince: 0, error: '' }),
    async lead(signal) {
      for (;;) {
        signal.throwIfAborted()
        try {
          store = await openDatabase(options)
          return store
        } catch (error) {
          if (!(error instanceof DatabaseInUseError)) throw error
        }
        await sleep(times.attempt, undefined, { signal })
      }
    },
    handOver: () => Promise.reject(new Error('not yet')),
    close: () => Promise.resolve(),
  }
}
