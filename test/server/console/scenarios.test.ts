import { expect, test } from 'vitest'
import type { ProcedureInput, ProcedureName } from '../../../shared/console/contract.ts'
import type { ScenarioRunView } from '../../../shared/console/scenarios.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'

const site = { nodes: [{ name: 'lab', kind: 'simulated' }] }
const head = { format: 'roomdesk-scenario', version: 1, name: 'own', title: 'Own', description: 'Of a test.' }
const credential = { label: 'Scenario client', access_key: 'scenario', secret_key: 'secret' }
const create = { topic: 'Of the scenario', owner_id: 'test', room_mode: '1' }

/** Changes something of each kind, and then waits for an hour. */
const harmful = {
  ...head,
  site: {
    credentials: [credential],
    nodes: [{ name: 'scenario node', kind: 'simulated' }],
    settings: { access: { token_idle_ms: 60_000 } },
  },
  steps: [
    { at: '0s', say: 'Room.', api: 'create_room', params: create, ret: 0, keep: { room: 'room_id' } },
    { at: '1s', say: 'Camera.', call: 'lab.put_camera', input: { name: 'scenario-camera' } },
    { at: '2s', say: 'Licence.', call: 'licence.set', input: { expires_at: '2020-01-01' } },
    { at: '3s', say: 'Faults.', call: 'lab.set_faults', input: { rules: [{ operation: '*', ret: 404 }] } },
    { at: '1h', say: 'Later.', wait: '1ms' },
  ],
}

async function opened(nodes: object[] = site.nodes) {
  const on = await controllerSite({ nodes })
  const key = await on.key()
  const call = <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => on.call(key, name, input)
  const run = async (): Promise<ScenarioRunView | null> => (await call('scenarios.list', {})).run
  const start = async (document: object, pace = 0) =>
    await call('scenarios.start', { text: JSON.stringify(document), pace })
  const ends = async (state: ScenarioRunView['state']) =>
    await expect.poll(async () => (await run())?.state, { timeout: 20_000 }).toBe(state)
  /** Parts of the site that a scenario may change. */
  const facts = async () => ({
    credentials: (await call('credentials.list', {})).map(({ access_key }) => access_key),
    nodes: (await call('nodes.list', {})).map(({ config }) => config.name),
    cameras: (await call('lab.cameras', {})).map(({ name }) => name),
    rooms: (await call('rooms.list', {})).total,
    faults: await call('lab.faults', {}),
    access: (await call('settings.get', {})).access,
    licence: (await call('licence.get', {})).expires_at,
  })
  return { on, key, call, run, start, ends, facts }
}
test('A bundled scenario runs on this site, and leaves it as it was', async () => {
  const { call, run, ends, facts } = await opened()
  const before = await facts()
  const { text } = await call('scenarios.text', { name: 'full-room' })
  expect(await call('scenarios.check', { text })).toMatchObject({
    problems: [],
    preview: { steps: 11, effects: { credentials: ['Lab client'], nodes: ['Lab 1'], rooms: true, licence: false } },
  })
  await call('scenarios.start', { text, pace: 0 })
  await ends('done')
  const steps = (await run())?.steps ?? []
  expect(steps.map(({ state }) => state)).toEqual(Array.from({ length: 11 }, () => 'holds'))
  expect(await facts()).toEqual(before)
})

test('A stopped scenario gives everything back', async () => {
  const { call, run, start, ends, facts } = await opened()
  const before = await facts()
  await start(harmful, 1_000)
  await expect.poll(async () => (await run())?.steps.filter(({ state }) => state === 'holds').length).toBe(4)
  expect(await facts()).toMatchObject({ rooms: 1, licence: '2020-01-01', cameras: ['scenario-camera'] })
  // Everybody can read the secret key of the file.
  const { secret_key } = await call('credentials.reveal', { access_key: 'scenario' })
  expect(secret_key).not.toBe(credential.secret_key)
  await expect(start(harmful)).rejects.toThrow('running already')
  await call('scenarios.steer', { action: 'stop' })
  await ends('stopped')
  expect(await run()).toMatchObject({ left: [] })
  expect(await facts()).toEqual(before)
})

test('A restart stops a scenario; the next start gives everything back and says so', async () => {
  const { on, run, start, ends, facts } = await opened()
  const before = await facts()
  await start(harmful, 1_000)
  await expect.poll(async () => (await run())?.steps.filter(({ state }) => state === 'holds').length).toBe(4)
  await on.restart()
  await ends('interrupted')
  expect(await facts()).toEqual(before)
})

test('A paused scenario begins one step at a time', async () => {
  const { call, run, ends } = await opened()
  const steps = ['One.', 'Two.'].map((say) => ({ at: '1h', say, wait: '1ms' }))
  await call('scenarios.start', { text: JSON.stringify({ ...head, steps }), pace: 1, paused: true })
  const states = async () => (await run())?.steps.map(({ state }) => state)
  await call('scenarios.steer', { action: 'step' })
  await expect.poll(states).toEqual(['holds', 'waiting'])
  expect(await run()).toMatchObject({ state: 'paused' })
  await call('scenarios.steer', { action: 'step' })
  await ends('done')
  await expect(call('scenarios.steer', { action: 'pause' })).rejects.toThrow('No scenario is running')
})

test('A scenario that would overwrite a record, or decides how the site is reached, is refused', async () => {
  const { call, start } = await opened()
  await call('credentials.create', { label: 'Real', access_key: 'scenario' })
  await expect(start(harmful)).rejects.toThrow('the credential scenario already')
  const moves = {
    ...head,
    site: { settings: { listeners: { media_port: 1 } } },
    steps: [{ at: '0s', say: 'Wait.', wait: '1ms' }],
  }
  await expect(start(moves)).rejects.toThrow('listeners.media_port, which must not change')
})

test('Simulated people are refused on a site whose rooms go to nodes with media', async () => {
  const { call } = await opened([...site.nodes, { name: 'media', kind: 'embedded' }])
  const { text } = await call('scenarios.text', { name: 'first-day' })
  expect(await call('scenarios.check', { text })).toMatchObject({
    ...{ problems: [], hindrances: [{ name: 'scenarioNeedsSimulated', code: 'conflict' }] },
  })
  await expect(call('scenarios.start', { text })).rejects.toThrow('roomdesk lab run')
  const flood = await call('scenarios.text', { name: 'flood-of-logins' })
  expect(await call('scenarios.check', flood)).toMatchObject({ problems: [], hindrances: [] })
})

test('Only an admin with a recently entered password starts a scenario; no token does', async () => {
  const { on } = await opened()
  await on.create('olga', 'operator')
  await on.create('ada', 'admin')
  const text = JSON.stringify({ ...head, steps: [{ at: '0s', say: 'Wait.', wait: '1ms' }] })
  const operator = await on.result(await on.signIn('olga'), 'scenarios.start', { text })
  expect(operator).toMatchObject({ ok: false, error: { name: 'roleMissing' } })
  const admin = await on.signIn('ada')
  expect(await on.result(admin, 'scenarios.start', { text })).toMatchObject({ ok: true })
})
