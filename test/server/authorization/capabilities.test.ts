import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import { capabilityHandlers } from '../../../server/console/capability-procedures.ts'
import { createDispatch } from '../../../server/console/dispatch.ts'
import type { CallOrigin, ProcedureHandlers } from '../../../server/console/handlers.ts'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { settingsSchema } from '../../../shared/settings.ts'
import { type TokenScope, tokenScopes } from '../../../shared/domain/token-scopes.ts'
import { capabilityDrafts, type DraftName, makeCapability } from '../../support/made-capabilities.ts'
import { room, temporaryStore, type TemporaryStore } from '../../support/sites/store-site.ts'

/** Whoever ends a capability needs the scope with which it is made, besides the one for links. */

/** Procedures that make each capability; those of the API alone have the scope of their kind on the console. */
const madeBy: Readonly<Record<DraftName, ProcedureName>> = {
  'live-link': 'orders.live_link',
  'recorded-link': 'orders.live_link',
  member: 'media.join_link',
  host: 'media.join_now',
  live: 'orders.stream',
  push: 'orders.stream',
  recording: 'orders.record',
  export: 'exports.start',
}
const names = Object.keys(capabilityDrafts) as DraftName[]

let site: TemporaryStore
let capabilities: Capabilities
let ids: Map<DraftName, string>
beforeAll(async () => {
  site = await temporaryStore()
  capabilities = new Capabilities({ store: site.store, clock: Date.now, used: () => {}, logger: { warn: () => {} } })
})
afterAll(async () => {
  capabilities.close()
  await site.remove()
})
beforeEach(async () => {
  ids = new Map()
  await site.store.transact([], (change) => {
    for (const key of site.store.all('capabilities').keys()) change.delete('capabilities', key)
    change.put('rooms', 'room', room('room', 1))
  })
  for (const kind of names) {
    const { id } = await makeCapability(site.store, capabilities, { kind, maker: { type: 'site' }, content: kind })
    ids.set(kind, id)
  }
})

const open = (): DraftName[] => names.filter((name) => capabilities.isInForce(ids.get(name) ?? ''))
const ofToken = (...scopes: TokenScope[]): CallOrigin => ({
  ...{ client: '', transport: 'rpc', role: 'admin', way: 'token', scopes },
})
async function call(name: ProcedureName, input: unknown, origin: CallOrigin): Promise<unknown> {
  // The other procedures are not called.
  const handlers = capabilityHandlers(capabilities, site.store) as ProcedureHandlers
  const dispatch = createDispatch(
    handlers,
    pino({ level: 'silent' }),
    {
      changes: { run: async (_call, run) => await run() },
      edits: { run: async (_name, input, handle) => await handle(input) },
    },
    {
      site: () => ({ settings: settingsSchema.parse({}), node: () => undefined, linkLifeMs: () => 0 }),
      fresh: { key: () => true, key_session: () => true, password: () => true, token: () => false },
    },
  )
  return await dispatch(name, input, origin)
}

test.each(names)('A token can revoke a capability of the kind %s only if it can create one', async (name) => {
  const needed = procedures[madeBy[name]].access.scope
  const others = tokenScopes.filter((scope) => scope !== needed && needed !== 'links:write')
  for (const scope of [...others, needed as TokenScope]) {
    const may = scope === needed
    const result = await call('capabilities.revoke', { ids: [ids.get(name)] }, ofToken('links:write', scope))
    expect([scope, result]).toMatchObject([
      scope,
      may
        ? { ok: true, value: { revoked: 1 } }
        : { error: { name: 'scopeMissing', values: { procedure: 'capabilities.revoke', scope: needed } } },
    ])
    expect(open().includes(name)).toBe(!may)
  }
})

test('A token with some of the scopes revokes nothing for the whole site: neither one list of capabilities, nor all', async () => {
  const token = ofToken('links:write', 'recordings:read')
  for (const [procedure, input] of [
    ['capabilities.revoke', { ids: [...ids.values()] }],
    ['capabilities.revoke_all', {}],
    ['capabilities.revoke_all', { room_id: 'room' }],
  ] as const) {
    expect(await call(procedure, input, token)).toMatchObject({ error: { name: 'scopeMissing' } })
    expect(open()).toEqual(names)
  }
})

test.each([
  ['A token with all of the scopes', ofToken('links:write', 'recordings:read', 'recordings:write')],
  ['An operator', { client: '', transport: 'rpc', role: 'operator', way: 'password' }],
] as const)('%s ends everything of a site', async (_, origin) => {
  const result = await call('capabilities.revoke_all', {}, origin)
  expect(result).toMatchObject({ ok: true, value: { revoked: names.length } })
  expect(open()).toEqual([])
})
