import fc from 'fast-check'
import { expect, test as base } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import { ofProgram } from '../../../server/capabilities/capability.ts'
import type { CapabilityMaker } from '../../../server/store/capability-record.ts'
import type { StoredAccount } from '../../../server/store/records.ts'
import type { Store } from '../../../server/store/store.ts'
import {
  capabilityDrafts,
  type DraftName as Kind,
  later,
  liveRecord,
  makeCapability,
  recordingRecord,
} from '../../support/made-capabilities.ts'
import { credential, room, temporaryStore } from '../../support/sites/store-site.ts'
import { disposed } from '../../support/fixtures.ts'

const test = base
  /** Capabilities end with their maker, their room and their content, whatever happens before and after. */
  .extend('site', async ({}, { onCleanup }) => disposed(onCleanup, await temporaryStore()))

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

const allKinds = ['live-link', 'recorded-link', 'join', 'live', 'push', 'recording', 'export'] as const
const live = ['live', 'push'] as const satisfies Kind[]
/** Kinds that end with the room. A recording and an export outlive it; a join link opens nothing while the room is in the trash. */
const ofRoom: readonly Kind[] = ['live-link', 'recorded-link', ...live]

interface Made {
  id: string
  token: string
  maker: MakerName
  kind: Kind
  /** Key of the live stream or recording. */
  content: string
  ended: boolean
}

/** Ends every live stream or recording, or brings all of them back as a restored backup does. */
async function changeContent(store: Store, made: readonly Made[], isBack: boolean): Promise<void> {
  await store.transact([], (change) => {
    for (const { kind, content, id } of made) {
      if (kind === 'live' || kind === 'push')
        change.put('lives', content, liveRecord(content, id, isBack ? 'living' : 'stopped'))
      else if (kind === 'recording' && isBack) change.put('recordings', content, recordingRecord(content, id))
      else if (kind === 'recording') change.delete('recordings', content)
    }
  })
}

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
  endLinks: {
    ends: ['credential'],
    do: async (store: Store) => {
      const old = store.get('credentials', 'key')
      if (old !== undefined) await put(store, 'credentials', 'key', { ...old, generation: (old.generation ?? 0) + 1 })
    },
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
  await put(store, 'credentials', 'key', { ...(store.get('credentials', 'key') ?? credential('key')), enabled: true })
  await put(store, 'rooms', 'room', room('room', 1))
}

type Step =
  | { do: 'make'; maker: MakerName; kind: Kind }
  | { do: 'revoke'; at: number }
  | { do: 'revokeAll'; maker: MakerName }
  | { do: ChangeName; at: number }
  | { do: 'restart' | 'furnish' | 'endContent' | 'restoreContent' }

const makerName = fc.constantFrom(...(Object.keys(makers) as MakerName[]))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('make' as const),
      maker: makerName,
      kind: fc.constantFrom(...(Object.keys(capabilityDrafts) as Kind[])),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revokeAll' as const), maker: makerName }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom(...(Object.keys(changes) as ChangeName[])), at: fc.nat(1) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart', 'furnish', 'endContent', 'restoreContent') }) },
)

test('No sequence of creations, revocations, deletions, restorations and restarts opens an ended capability', async ({
  site,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const open = async (): Promise<Capabilities> =>
        new Capabilities({ store: site.store, clock: Date.now, used: () => {}, logger: { warn: () => {} } })
      await site.store.transact([], (change) => {
        for (const name of ['capabilities', 'lives', 'recordings'] as const)
          for (const key of site.store.all(name).keys()) change.delete(name, key)
      })
      await furnish(site.store)
      let capabilities = await open()
      const made: Made[] = []
      const end = (ends: (each: Made) => boolean): void => {
        for (const each of made) if (ends(each)) each.ended = true
      }
      for (const one of steps) {
        if (one.do === 'make') {
          const { kind, maker } = one
          const content = `content-${made.length}`
          const outcome = await makeCapability(site.store, capabilities, { kind, maker: makers[maker], content }).catch(
            () => undefined,
          )
          // Without its room, a link or live stream opens nothing and is not kept.
          const needsRoom = kind === 'live-link' || kind === 'live' || kind === 'push'
          const ended = needsRoom && site.store.get('rooms', 'room') === undefined
          if (outcome !== undefined) made.push({ id: outcome.id, token: outcome.token, kind, maker, content, ended })
        } else if (one.do === 'revoke') {
          const chosen = made[one.at]
          if (chosen !== undefined) await capabilities.revoke([chosen.id], ofProgram)
          end((each) => each === chosen)
        } else if (one.do === 'revokeAll') {
          await capabilities.revoke({ maker: makers[one.maker] }, ofProgram)
          end(({ maker }) => maker === one.maker || (one.maker === 'account' && maker === 'token'))
        } else if (one.do === 'restart') {
          capabilities.close()
          await site.reopen()
          capabilities = await open()
        } else if (one.do === 'furnish') {
          await furnish(site.store)
        } else if (one.do === 'endContent' || one.do === 'restoreContent') {
          await changeContent(site.store, made, one.do === 'restoreContent')
          if (one.do === 'endContent') end(({ kind }) => kind === 'live' || kind === 'push' || kind === 'recording')
        } else {
          const change = changes[one.do]
          const ends: readonly MakerName[] = change.ends
          await change.do(site.store)
          const concerns = (kind: Kind): boolean =>
            one.do === 'deleteRoom' ? ofRoom.includes(kind) : one.do !== 'demote' || kind !== 'member'
          end(({ maker, kind }) => ends.includes(maker) && concerns(kind))
        }
        const view = await site.store.leadership.confirmed()
        // A controller that takes over reads the same records.
        const other = await open()
        for (const { token, ended, kind } of made) {
          const isShut = (kind === 'member' || kind === 'host') && view.get('rooms', 'room') === undefined
          for (const each of [capabilities, other])
            expect(each.open(view, token, allKinds, '127.0.0.1') === undefined).toBe(ended || isShut)
        }
        other.close()
      }
      capabilities.close()
    }),
    { numRuns: 60 },
  )
}, 120_000)

test.for(['ids', 'maker'] as const)(
  'A link that is revoked by %s while its room is in the trash stays ended when the room is back',
  async (selection, { site }) => {
    await furnish(site.store)
    const capabilities = new Capabilities({
      store: site.store,
      clock: Date.now,
      used: () => {},
      logger: { warn: () => {} },
    })
    const made = await capabilities.make(capabilityDrafts.host, makers.account)
    const other = await capabilities.make(capabilityDrafts.member, makers.site)
    await put(site.store, 'rooms', 'room', undefined)
    const revoked = await capabilities.revoke(selection === 'ids' ? [made.id] : { maker: makers.account }, ofProgram)
    await furnish(site.store)
    const view = await site.store.leadership.confirmed()
    expect(revoked).toBe(0)
    expect(capabilities.open(view, made.token, ['join'], '')).toBeUndefined()
    expect(capabilities.open(view, other.token, ['join'], '')).toBeDefined()
    capabilities.close()
  },
)

test('A capability that is being stored ends with its creator, deleted at the same time', async ({ site }) => {
  await furnish(site.store)
  const capabilities = new Capabilities({
    store: site.store,
    clock: Date.now,
    used: () => {},
    logger: { warn: () => {} },
  })
  const made = capabilities.make(capabilityDrafts['recorded-link'], makers.credential)
  const deleted = put(site.store, 'credentials', 'key', undefined)
  const { token } = await made
  await deleted
  await furnish(site.store)
  const view = await site.store.leadership.confirmed()
  expect(capabilities.open(view, token, ['recorded-link'], '')).toBeUndefined()
  capabilities.close()
})

test('Ending all links of a creator includes those that are being stored', async ({ site }) => {
  const { store } = site
  await furnish(store)
  const capabilities = new Capabilities({ store, clock: () => 1_000, used: () => {}, logger: { warn: () => {} } })
  try {
    await capabilities.revoke({}, ofProgram)
    const maker = { type: 'key' } as const
    const made = Array.from({ length: 20 }, () => capabilities.make(capabilityDrafts['live-link'], maker))
    const kept = capabilities.make(capabilityDrafts['live-link'], makers.site)
    await capabilities.revoke({ maker }, ofProgram)
    await Promise.all([...made, kept])
    expect(capabilities.list({ maker })).toEqual([])
    expect(capabilities.list({ maker: makers.site })).toHaveLength(1)
  } finally {
    capabilities.close()
  }
})
