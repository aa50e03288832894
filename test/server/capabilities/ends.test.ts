import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import type { CapabilityDraft } from '../../../server/capabilities/capability.ts'
import type { CapabilityMaker } from '../../../server/store/capability-record.ts'
import type { StoredAccount } from '../../../server/store/records.ts'
import type { Store } from '../../../server/store/store.ts'
import { credential, room, temporaryStore, type TemporaryStore } from '../../support/sites/store-site.ts'

/** Capabilities end with their maker, their room and their content, whatever happens before and after. */

let site: TemporaryStore
beforeAll(async () => {
  site = await temporaryStore()
})
afterAll(() => site.remove())

const later = 4_000_000_000_000
const account = (role: StoredAccount['role'], enabled = true): StoredAccount => ({
  ...{ id: 'ann', name: 'Ann', role, enabled, password_sealed: '', stamp: 's' },
  ...{ created_at: 1, password_changed_at: 1 },
})

const makers = {
  account: { type: 'account', account: 'ann' },
  token: { type: 'account', account: 'ann', token: 'token' },
  credential: { type: 'credential', access_key: 'key' },
  site: { type: 'site' },
} as const satisfies Record<string, CapabilityMaker>
type MakerName = keyof typeof makers

const drafts = {
  'live-link': { kind: 'live-link', room_id: 'room', user_id: 'cam', source: 'main', expires_at: later },
  'recorded-link': {
    kind: 'recorded-link',
    room_id: 'room',
    user_id: 'cam',
    source: 'main',
    from: 1,
    to: 2,
    expires_at: 0,
  },
} as const satisfies Record<string, CapabilityDraft>
type Kind = keyof typeof drafts

/** Changes of the site, with the makers whose capabilities end; `room`: all that belong to the room. */
const changes = {
  deleteAccount: { ends: ['account', 'token'], do: (store: Store) => put(store, 'accounts', 'ann', undefined) },
  disableAccount: {
    ends: ['account', 'token'],
    do: (store: Store) => put(store, 'accounts', 'ann', account('admin', false)),
  },
  demote: { ends: ['account', 'token'], do: (store: Store) => put(store, 'accounts', 'ann', account('viewer')) },
  revokeToken: { ends: ['token'], do: (store: Store) => put(store, 'access_tokens', 'token', undefined) },
  deleteCredential: { ends: ['credential'], do: (store: Store) => put(store, 'credentials', 'key', undefined) },
  disableCredential: {
    ends: ['credential'],
    do: (store: Store) => put(store, 'credentials', 'key', { ...credential('key'), enabled: false }),
  },
  deleteRoom: {
    ends: ['account', 'token', 'credential', 'site'],
    do: (store: Store) => put(store, 'rooms', 'room', undefined),
  },
} as const satisfies Record<string, { ends: readonly MakerName[]; do: (store: Store) => Promise<void> }>
type ChangeName = keyof typeof changes

function put<C extends 'accounts' | 'access_tokens' | 'credentials' | 'rooms'>(
  store: Store,
  collection: C,
  key: string,
  value: Parameters<Store['writeBehind']>[2] | undefined,
): Promise<void> {
  return store.transact([], (change) => {
    if (value === undefined) change.delete(collection, key)
    else change.put(collection, key, value as never)
  })
}

/** Everything is there, and enabled: makers may make again, and what ended stays ended. */
async function furnish(store: Store): Promise<void> {
  await put(store, 'accounts', 'ann', account('admin'))
  await put(store, 'access_tokens', 'token', {
    account: 'ann',
    label: 't',
    scopes: [],
    created_at: 1,
    expires_at: later,
  })
  await put(store, 'credentials', 'key', credential('key'))
  await put(store, 'rooms', 'room', room('room', 1))
}

type Step =
  | { do: 'make'; maker: MakerName; kind: Kind }
  | { do: 'revoke'; at: number }
  | { do: 'revokeAll'; maker: MakerName }
  | { do: ChangeName; at: number }
  | { do: 'restart' | 'furnish' }

const makerName = fc.constantFrom(...(Object.keys(makers) as MakerName[]))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('make' as const),
      maker: makerName,
      kind: fc.constantFrom(...(Object.keys(drafts) as Kind[])),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revokeAll' as const), maker: makerName }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom(...(Object.keys(changes) as ChangeName[])), at: fc.nat(1) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'furnish' as const) }) },
)

test('No order of makings, revocations, deletions, restorations and restarts opens anything that has ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const open = async (): Promise<Capabilities> =>
        new Capabilities({ store: site.store, clock: Date.now, used: () => {}, logger: { warn: () => {} } })
      await site.store.transact([], (change) => {
        for (const key of site.store.all('capabilities').keys()) change.delete('capabilities', key)
      })
      await furnish(site.store)
      let capabilities = await open()
      const made: { token: string; id: string; maker: MakerName; ended: boolean }[] = []
      const end = (ends: (each: (typeof made)[number]) => boolean): void => {
        for (const each of made) if (ends(each)) each.ended = true
      }
      for (const one of steps) {
        if (one.do === 'make') {
          const outcome = await capabilities.make(drafts[one.kind], makers[one.maker]).catch(() => undefined)
          // Without its room, a link opens nothing and is not kept.
          const isGone = one.kind === 'live-link' && site.store.get('rooms', 'room') === undefined
          if (outcome !== undefined) made.push({ ...outcome, maker: one.maker, ended: isGone })
        } else if (one.do === 'revoke') {
          const chosen = made[one.at]
          if (chosen !== undefined) await capabilities.revoke([chosen.id])
          end((each) => each === chosen)
        } else if (one.do === 'revokeAll') {
          await capabilities.revokeAll({ maker: makers[one.maker] })
          end(({ maker }) => maker === one.maker || (one.maker === 'account' && maker === 'token'))
        } else if (one.do === 'restart') {
          capabilities.close()
          await site.reopen()
          capabilities = await open()
        } else if (one.do === 'furnish') {
          await furnish(site.store)
        } else {
          const change = changes[one.do]
          const ends: readonly MakerName[] = change.ends
          await change.do(site.store)
          end(({ maker }) => ends.includes(maker))
        }
        const view = await site.store.leadership.confirmed()
        for (const { token, ended } of made) {
          const opened = capabilities.open(view, token, ['live-link', 'recorded-link'], '127.0.0.1')
          expect(opened === undefined).toBe(ended)
        }
      }
      capabilities.close()
    }),
    { numRuns: 60 },
  )
}, 120_000)

test('A capability that is being stored ends with its maker, which is deleted at the same time', async () => {
  await furnish(site.store)
  const capabilities = new Capabilities({
    store: site.store,
    clock: Date.now,
    used: () => {},
    logger: { warn: () => {} },
  })
  const made = capabilities.make(drafts['recorded-link'], makers.credential)
  const deleted = put(site.store, 'credentials', 'key', undefined)
  const { token } = await made
  await deleted
  await furnish(site.store)
  const view = await site.store.leadership.confirmed()
  expect(capabilities.open(view, token, ['recorded-link'], '')).toBeUndefined()
  capabilities.close()
})
