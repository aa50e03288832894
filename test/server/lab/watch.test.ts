import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { FaultRule } from '../../../shared/console/lab.ts'
import { type ClientCheckId, clientCheckIds, clientCheckOutcome } from '../../../shared/domain/client-checks.ts'
import { built } from '../../support/built.ts'
import { shared } from '../../support/fixtures.ts'
import { startHeadless } from '../../support/headless.ts'
import { LabClient, secretWithPlus } from '../../support/lab/lab-client.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const controller = shared(() =>
  startHeadless({
    site: {
      nodes: [{ name: 'lab', kind: 'simulated' }],
      settings: { access: { failures_per_minute: 0 } },
    },
  }),
)

/** Makes a credential, and a client of it. */
async function newClient(name: string): Promise<LabClient> {
  const secret = secretWithPlus(name)
  await controller().rpc('credentials.create', { label: name, access_key: name, secret_key: secret })
  const client = new LabClient(controller().ready, name, secret)
  onTestFinished(() => client[Symbol.dispose]())
  return client
}

async function watched(name: string): Promise<LabClient> {
  const client = await newClient(name)
  await controller().rpc('clients.watch', { access_key: name, running: true })
  return client
}

const checksOf = (access_key: string) => controller().rpc('clients.checks', { access_key })

/** Returns the rules that a client broke, or those that no call could show. */
async function rulesOf(accessKey: string, outcome: 'wrong' | 'unseen'): Promise<ClientCheckId[]> {
  const { checks } = await checksOf(accessKey)
  return checks.filter((check) => clientCheckOutcome(check) === outcome).map(({ id }) => id)
}

/** Adds a fault rule of the lab, which ends after some hits. */
async function fault(operation: string, effect: Partial<FaultRule>, times = 1): Promise<void> {
  await controller().rpc('lab.set_faults', { rules: [{ operation, times, ...effect }] })
}

const door = { userId: 'door', userAddress: 'rtsp://10.0.0.9/live' }
const camera = { ...door, userName: 'Door' }
const json = { 'Content-Type': 'application/json' }

test('A client that does everything right, through every fault, broke no rule', async () => {
  const client = await watched('good')
  const list = () => client.device('getOutgoingUsers')
  await fault('authenticate', { ret: 401 })
  expect((await client.signIn()).ret).toBe(401)
  await sleep(3_100)
  expect((await client.signIn()).ret).toBe(0)
  for (let n = 0; n < 5; n++) await list()

  const own = { topic: 'Frühstück 会议 + Tee', room_extend_id: randomUUID() }
  await fault('create_room', { drop: true })
  await expect(client.create(own)).rejects.toThrow()
  const room = await client.createRoom(own)
  await fault('create_room', { ret: 700 })
  expect((await client.create({ topic: 'Other' })).ret).toBe(700)
  await sleep(1_100)
  const other = await client.createRoom({ topic: 'Other' })

  await client.media('/sdk/get_mcu', { room_id: room })
  await client.media('/rtc/room/get_room_info', { room_id: room })
  await fault('create_outgoing_user', { ret: 427 })
  const body = JSON.stringify({ roomId: room, ...camera, options: { login_name: 'admin', login_password: 'hunter2' } })
  const add = () => client.device('createOutgoingUser', {}, { method: 'POST', headers: json, body })
  expect((await add()).ret).toBe(427)
  await sleep(1_100)
  expect((await add()).ret).toBe(0)
  expect((await client.device('destroyOutgoingUser', { roomId: room, ...door })).ret).toBe(0)

  await fault('get_room', { ret: 404 })
  await client.media('/rtc/room/get', { room_id: room })
  await list()
  await fault('get_mcu', { ret: 416 })
  await client.media('/sdk/get_mcu', { room_id: room })
  await list()
  await fault('create_room', { ret: 411 })
  await client.create({ topic: 'Third' })
  await list()
  await fault('get_room', { delay_ms: 2_200 })
  expect((await client.media('/rtc/room/get', { room_id: room })).ret).toBe(0)
  await fault('get_room', { ret: 602 })
  await client.media('/rtc/room/get', { room_id: room })
  await client.signIn()

  const agent = new http.Agent({ keepAlive: true })
  await fault('get_room', { delay_ms: 200 }, 4)
  await Promise.all([1, 2, 3, 4].map(() => client.media('/rtc/room/get', { room_id: room }, client.token, { agent })))
  agent.destroy()
  await client.media('/rtc/room/get', { room_id: room, callback: 'answer' }, client.token, {
    headers: { accept: '*/*' },
  })
  for (const room_id of [room, other]) expect((await client.media('/rtc/room/del', { room_id })).ret).toBe(0)

  expect(await rulesOf('good', 'wrong')).toEqual([])
  expect(await rulesOf('good', 'unseen')).toEqual([])
})

/** Clients that break one rule each. */
const badClients: Record<ClientCheckId, (client: LabClient) => Promise<unknown>> = {
  signsDigest: (client) => client.signIn({ digest: 'bm90IGEgZGlnZXN0' }),
  async keepsToken(client) {
    for (let n = 0; n < 4; n++) {
      await client.signIn()
      await client.device('getOutgoingUsers')
    }
  },
  async renewsToken(client) {
    await client.signIn()
    await fault('get_room', { ret: 602 }, 3)
    for (let n = 0; n < 3; n++) await client.media('/rtc/room/get', { room_id: '1' })
  },
  async waitsAfterRefusedSignIn(client) {
    await fault('authenticate', { ret: 401 }, 3)
    for (let n = 0; n < 3; n++) await client.signIn()
  },
  async namesToken(client) {
    await client.signIn()
    await client.media('/rtc/room/get', { room_id: await client.createRoom(), access_tocken: client.token }, '')
  },
  escapesPlus: (client) =>
    client.media('/rtc/auth/valid', { access_key: client.accessKey }, '', { query: `digest=${client.digest}` }),
  keepsSecret: (client) => client.signIn({ secret_key: 'my secret' }),
  async separatesLogin(client) {
    await client.signIn()
    const userAddress = 'rtsp://admin:hunter2@10.0.0.9/live'
    await client.device('createOutgoingUser', {
      roomId: await client.createRoom(),
      ...camera,
      userId: 'gate',
      userAddress,
    })
  },
  async knowsOperations(client) {
    await client.signIn()
    await client.media('/rtc/room/list')
  },
  async usesMethods(client) {
    await client.signIn()
    await client.media('/rtc/room/create', { topic: 'x', owner_id: 'x', room_mode: '1' }, client.token, {
      method: 'POST',
    })
  },
  async declaresParameters(client) {
    await client.signIn()
    await client.createRoom({ start_time: '0' })
  },
  async sendsValidParameters(client) {
    await client.signIn()
    await client.create({ room_mode: '9' })
  },
  async escapesText(client) {
    await client.signIn()
    // GBK instead of UTF-8.
    await client.media('/rtc/room/create', { owner_id: 'x', room_mode: '1' }, client.token, {
      query: 'topic=%BB%E1%D2%E9',
    })
  },
  async namesContentType(client) {
    await client.signIn()
    const body = JSON.stringify({ roomId: '1', ...camera })
    await client.device('createOutgoingUser', {}, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body })
  },
  async namesCallback(client) {
    await client.signIn()
    await client.device('getOutgoingUsers', { callback: 'alert(1)' })
  },
  async readsRet(client) {
    await client.signIn()
    await fault('create_room', { ret: 700 })
    const { room_id: room } = await client.create()
    await client.media('/sdk/get_mcu', { room_id: String(room) })
  },
  async acceptsMissingRoom(client) {
    await client.signIn()
    for (let n = 0; n < 3; n++) await client.media('/rtc/room/get', { room_id: 'nowhere' })
  },
  async acceptsRefusal(client) {
    await client.signIn()
    await fault('get_mcu', { ret: 416 }, 3)
    for (let n = 0; n < 3; n++) await client.media('/sdk/get_mcu', { room_id: '1' })
  },
  async acceptsLimit(client) {
    await client.signIn()
    await fault('create_room', { ret: 411 }, 3)
    for (let n = 0; n < 3; n++) await client.create()
  },
  async waitsAfterFailure(client) {
    await client.signIn()
    await fault('list_users', { ret: 409 }, 3)
    for (let n = 0; n < 3; n++) await client.media('/rtc/room/get_room_info', { room_id: '1' })
  },
  async waitsAfterFailedJoin(client) {
    await client.signIn()
    await fault('create_outgoing_user', { ret: 427 }, 3)
    for (let n = 0; n < 3; n++) await client.device('createOutgoingUser', { roomId: '1', ...camera })
  },
  async createsOnce(client) {
    await client.signIn()
    await fault('create_room', { drop: true })
    await expect(client.create()).rejects.toThrow()
    await client.createRoom()
  },
  async readsMcuFirst(client) {
    await client.signIn()
    await client.media('/rtc/force_offline_mcu', { room_id: await client.createRoom(), user_id: 'ann' })
  },
  async repeatsAddress(client) {
    await client.signIn()
    const yard = { roomId: await client.createRoom(), userId: 'yard' }
    expect((await client.device('createOutgoingUser', { ...camera, ...yard })).ret).toBe(0)
    await client.device('destroyOutgoingUser', { ...yard, userAddress: 'rtsp://10.0.0.9:555/live' })
  },
  async deletesRooms(client) {
    await client.signIn()
    for (let n = 0; n < 20; n++) await client.createRoom()
  },
  async awaitsAnswers(client) {
    await client.signIn()
    await fault('list_outgoing_users', { delay_ms: 700 })
    await expect(client.device('getOutgoingUsers', {}, { signal: AbortSignal.timeout(200) })).rejects.toThrow()
  },
  async reusesConnections(client) {
    await client.signIn()
    for (let n = 0; n < 12; n++) await client.device('getOutgoingUsers', {}, { agent: false })
  },
  async limitsParallelCalls(client) {
    await client.signIn()
    const agent = new http.Agent({ keepAlive: true })
    await fault('list_outgoing_users', { delay_ms: 800 }, 70)
    await Promise.all(Array.from({ length: 70 }, () => client.device('getOutgoingUsers', {}, { agent })))
    agent.destroy()
  },
}

test.each(clientCheckIds)('A client that breaks the rule %s is found by it alone', async (id) => {
  const client = await watched(id)
  await badClients[id](client)
  await controller().rpc('lab.set_faults', { rules: [] })
  await expect.poll(() => rulesOf(id, 'wrong')).toEqual([id])
  const { checks } = await checksOf(id)
  const { example } = checks.find((check) => check.id === id) ?? {}
  expect(example?.call).toMatch(/^(GET|POST) \/(rtc|sdk|avd)\/.* → (ret \d+|no answer)/)
  expect(example?.call).not.toMatch(/hunter2|my secret|the secret of the lab/)
  if (client.token !== '') expect(decodeURIComponent(example?.call ?? '')).not.toContain(client.token)
})

test('Without a watch, and after its end, nothing is counted; a new watch begins anew', async () => {
  const client = await newClient('quiet')
  await client.signIn()
  expect(await checksOf('quiet')).toMatchObject({ began_at: 0, running: false, calls: 0, wrong: 0, right: 0 })
  await controller().rpc('clients.watch', { access_key: 'quiet', running: true, hours: 1 })
  await client.media('/rtc/room/list')
  const running = await checksOf('quiet')
  expect(running).toMatchObject({ running: true, calls: 1, wrong: 1 })
  expect(running.ends_at - running.began_at).toBe(3_600_000)
  const ended = await controller().rpc('clients.watch', { access_key: 'quiet', running: false })
  await client.media('/rtc/room/list')
  expect(await checksOf('quiet')).toEqual(ended)
  expect(ended).toMatchObject({ running: false, calls: 1, wrong: 1 })
  const watches = await controller().rpc('clients.watched', {})
  expect(watches.find(({ access_key }) => access_key === 'quiet')).toMatchObject({ label: 'quiet', calls: 1 })
  await controller().rpc('clients.watch', { access_key: 'quiet', running: true })
  expect(await checksOf('quiet')).toMatchObject({ running: true, calls: 0, wrong: 0 })
})

test('A token is known after its session has ended', async () => {
  const client = await watched('ended')
  await client.signIn()
  await client.device('getOutgoingUsers')
  await controller().rpc('credentials.end_sessions', { access_key: 'ended' })
  for (let n = 0; n < 3; n++) expect((await client.device('getOutgoingUsers')).ret).toBe(401)
  expect(await rulesOf('ended', 'wrong')).toEqual(['renewsToken'])
})

test('The report of a client is signed, and the command finds every change', async () => {
  const client = await watched('reported')
  await client.signIn()
  await client.media('/rtc/room/list')
  const folder = await temporaryFolder()
  const file = join(folder, 'report.html')
  const { report_key: key } = await checksOf('reported')
  for (const [language, title] of [
    ['en', 'Calls only paths that exist'],
    ['de', 'Ruft nur Pfade auf, die es gibt'],
    ['zh', '只调用存在的路径'],
  ] as const) {
    const { text: page } = await controller().rpc('clients.report', { access_key: 'reported', language })
    expect(page).toContain(title)
    expect(page).toContain('GET /rtc/room/list')
    expect(page).not.toContain(encodeURIComponent(client.token))
    await writeFile(file, page)
    expect(await check(file, '--key', key)).toEqual({ code: 0, stdout: expect.stringContaining('is as it was signed') })
  }
  // A key may begin with a dash.
  for (const other of ['another', '-another']) expect(await check(file, '--key', other)).toMatchObject({ code: 1 })
  expect(await check(file, '--key', '--kez')).toMatchObject({ code: 1 })
  const page = await readFile(file, 'utf8')
  await writeFile(file, page.replace('/rtc/room/list', '/rtc/room/l1st'))
  expect(await check(file)).toMatchObject({ code: 1, stdout: expect.stringContaining('is not as it was signed') })
  await writeFile(file, `${page}<p>more`)
  expect(await check(file)).toMatchObject({ code: 1, stdout: expect.stringContaining('has no signature') })
  expect(await check(join(folder, 'missing.html'))).toMatchObject({ code: 2 })
})

/** Runs `roomdesk check-report`. */
async function check(...words: string[]): Promise<{ code: unknown; stdout: string }> {
  const child = spawn(process.execPath, [built('server/headless.js'), 'check-report', ...words])
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { code, stdout }
}
