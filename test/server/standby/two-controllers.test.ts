import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { mediaOperations } from '../../../shared/media-operations.ts'
import { ApiClient } from '../../support/api-client.ts'
import { type Headless, HeadlessEndedError, startHeadless } from '../../support/headless.ts'
import { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'
import { step } from '../../support/step.ts'

const credential = { label: 'Lab', access_key: 'lab', secret_key: 'lab-secret' }
const account = { name: 'Ada', password: 'a long enough password', role: 'operator' } as const
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }

test('a site with two controllers', { timeout: 240_000 }, async () => {
  const server = await PostgresServer.start()
  onTestFinished(() => server.remove())
  const key = join(await temporaryFolder(), 'site.key')
  const flags = ['--store', server.address(await server.newSchema()), '--seal-key', key]
  const start = (name: string) => startHeadless({ site, flags: [...flags, '--controller-name', name] })
  const one = await start('one')
  let two = await start('two')
  onTestFinished(async () => {
    for (const controller of [one, two]) await controller.remove('SIGKILL')
  })

  const healthOf = async ({ ready }: Headless): Promise<[number, Record<string, unknown>]> => {
    const response = await fetch(`${ready.console}/healthz`)
    return [response.status, (await response.json()) as Record<string, unknown>]
  }

  /** Reads an answer without its changing parts. */
  async function bytesOf(url: string, init?: RequestInit): Promise<string> {
    const response = await fetch(url, init)
    const headers = [...response.headers].filter(([name]) => name !== 'date')
    return `${response.status} ${JSON.stringify(headers)} ${await response.text()}`
  }

  await step('One is the leader, the other a replica, and both report their role', async () => {
    expect(one.ready).toMatchObject({ role: 'leader' })
    expect(two.ready).toMatchObject({ role: 'standby' })
    expect(await healthOf(one)).toMatchObject([200, { ok: true, role: 'leader', epoch: '1' }])
    expect(await healthOf(two)).toMatchObject([503, { role: 'standby', leader: 'one', epoch: '1' }])
    expect(await (await fetch(`${two.ready.console}/metrics`)).text()).toMatch(/^roomdesk_leader 0$/m)
  })

  await step('A controller with another key cannot join, and says how to correct it', async () => {
    const folder = await temporaryFolder()
    const alone = startHeadless({ folder, site, flags: ['--store', String(flags[1])] })
    const error = await alone.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(HeadlessEndedError)
    expect(String(error)).toMatch(/sealed with another key/)
    expect(String(error)).toMatch(/--seal-key/)
  })

  await step('A replica answers every operation with the bytes of the leader', async () => {
    const api = new ApiClient(two.ready, credential)
    expect((await api.authenticate()).ret).toBe(0)
    const shown = encodeURIComponent(api.token)
    const room = await api.createRoom({ room_extend_id: 'same' })
    const values: Record<string, string> = {
      room_id: room,
      room_extend_id: 'same',
      user_id: 'nobody',
      topic: 'Another',
      owner_id: 'o',
      room_mode: '1',
    }
    const targets = mediaOperations
      .filter(({ name }) => !['authenticate', 'create_room', 'join_url', 'delete_room'].includes(name))
      .map(({ path, params }) => {
        const named = Object.keys(params.shape).flatMap((name) => (name in values ? [`${name}=${values[name]}`] : []))
        return `${path}?access_token=${shown}&${named.join('&')}`
      })
    targets.push(
      '/rtc/room/get',
      '/nothing',
      '/openapi.json',
      `/rtc/room/get?access_token=${shown}&room_id=${room}&callback=told`,
      `/rtc/room/get?access_token=${shown}&room_id=%ff`,
      `/rtc/room/get?${'x'.repeat(9_000)}`,
    )
    for (const target of targets)
      expect(await bytesOf(two.ready.media + target)).toBe(await bytesOf(one.ready.media + target))
    const list = `/avd/api/outgoing/getOutgoingUsers?accessToken=${shown}`
    for (const init of [{}, { method: 'POST' }, { method: 'POST', body: 'roomId=' }, { method: 'OPTIONS' }])
      expect(await bytesOf(two.ready.device + list, init)).toBe(await bytesOf(one.ready.device + list, init))
  })

  await step('The leader knows the client of each request, and nobody can forge it', async () => {
    const headers = { 'roomdesk-client': '6.6.6.6 1 forged' }
    for (const base of [one.ready.media, two.ready.media]) await fetch(`${base}/rtc/room/get?whose`, { headers })
    const { items } = await one.rpc('activity.list', {})
    expect(items.slice(0, 2).map(({ client }) => client)).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  await step('The console of a replica reads, changes nothing and names the leader', async () => {
    await one.rpc('accounts.create', account)
    expect((await two.rpc('rooms.list', {})).items.length).toBeGreaterThan(0)
    const listed = await two.rpc('controllers.list', {})
    expect(listed.items.map(({ name, role, self }) => [name, role, self])).toEqual([
      ['two', 'standby', true],
      ['one', 'leader', false],
    ])
    const refused = await two.result('rooms.create', { topic: 'No', owner_id: 'o', room_mode: 1 })
    expect(refused).toMatchObject({ ok: false, error: { code: 'standby' } })
    if (!refused.ok) expect(refused.error.message).toContain(one.ready.console)
    // An account signs in here, through the leader, and is known here.
    const signIn = (password: string) =>
      fetch(`${two.ready.console}/session`, {
        method: 'POST',
        body: JSON.stringify({ name: account.name, password }),
      })
    expect((await signIn('wrong')).status).toBe(401)
    const signedIn = await signIn(account.password)
    expect(signedIn.status).toBe(204)
    const cookie = begunCookie(signedIn.headers)
    const call = async (procedure: string): Promise<unknown> =>
      await (
        await fetch(`${two.ready.console}/rpc/${procedure}`, {
          method: 'POST',
          body: '{}',
          headers: bothHalves(cookie),
        })
      ).json()
    expect(await call('account.me')).toMatchObject({ ok: true, value: { name: account.name, role: account.role } })
    // The rights of a role are the same here.
    expect(await call('backups.list')).toMatchObject({ ok: false, error: { code: 'forbidden' } })
    expect(
      (await fetch(`${two.ready.console}/session`, { method: 'DELETE', headers: bothHalves(cookie) })).status,
    ).toBe(204)
    await vi.waitFor(async () => expect(await call('account.me')).toMatchObject({ ok: false }))
  })

  await step('The pages of a replica show events of the leader', async () => {
    const key = (await readFile(join(two.folder, 'console.key'), 'utf8')).trim()
    const signedIn = await fetch(`${two.ready.console}/session`, { method: 'POST', body: JSON.stringify({ key }) })
    const cookie = begunCookie(signedIn.headers)
    const headers = { ...bothHalves(cookie), origin: two.ready.console }
    const page = new WebSocket(`${two.ready.console.replace('http', 'ws')}/ws`, { headers })
    const told: { event?: string; id?: number; result?: unknown }[] = []
    page.on('message', (data: Buffer) => told.push(JSON.parse(data.toString()) as (typeof told)[number]))
    await once(page, 'open')
    // The first page opens the connection to the leader.
    await vi.waitFor(async () => {
      await one.rpc('rooms.create', { topic: 'Told', owner_id: 'o', room_mode: 1 })
      expect(told.some(({ event }) => event === 'rooms.changed')).toBe(true)
    }, 5_000)
    page.send(JSON.stringify({ id: 7, procedure: 'rooms.create', input: {} }))
    await vi.waitFor(() =>
      expect(told.find(({ id }) => id === 7)?.result).toMatchObject({ ok: false, error: { code: 'standby' } }),
    )
    page.close()
    await once(page, 'close')
  })

  await step('With a certificate a replica uses TLS like the leader, and towards the leader', async () => {
    const secretly = async (url: string): Promise<string> => {
      const sent = https.get(`${url.replace('http:', 'https:')}/rtc/room/get`, {
        rejectUnauthorized: false,
        agent: false,
      })
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return await text(response)
    }
    await one.rpc('settings.set', { tls: { mode: 'self-signed' } })
    one.consoleSpeaks('https')
    await vi.waitFor(async () => expect(await secretly(two.ready.media)).toContain('room_id is missing'), 10_000)
    expect(await secretly(one.ready.media)).toContain('room_id is missing')
    await one.rpc('settings.set', { tls: { mode: 'off' } })
    one.consoleSpeaks('http')
    await vi.waitFor(async () => expect((await healthOf(two))[0]).toBe(503), 10_000)
  })

  await step('The lead is handed over by hand, and both addresses keep answering', async () => {
    const api = new ApiClient(one.ready, credential)
    await api.authenticate()
    const { items } = await one.rpc('controllers.list', {})
    const standby = items.find(({ name }) => name === 'two')
    // Sent to a replica, which forwards it.
    const began = performance.now()
    expect(await two.rpc('controllers.lead', { id: standby?.id ?? '' })).toEqual({ name: 'two' })
    const room = await api.createRoom()
    expect(performance.now() - began).toBeLessThan(5_000)
    await vi.waitFor(
      async () => expect(await healthOf(two)).toMatchObject([200, { role: 'leader', epoch: '2' }]),
      5_000,
    )
    await vi.waitFor(
      async () => expect(await healthOf(one)).toMatchObject([503, { role: 'standby', leader: 'two' }]),
      5_000,
    )
    for (const { ready } of [one, two]) {
      const client = new ApiClient(ready, credential)
      client.token = api.token
      expect(await client.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0, room_id: room })
    }
  })

  await step(
    'The leader is killed: changes are answered again at the other address, and a new controller replaces the lost one',
    async () => {
      const api = new ApiClient(one.ready, credential)
      await api.authenticate()
      const before = await api.createRoom()
      await two.stop('SIGKILL')
      const killed = performance.now()
      await vi.waitFor(
        async () => expect((await api.get('/rtc/room/update', { room_id: before, topic: 'After' })).ret).toBe(0),
        {
          timeout: 10_000,
          interval: 1,
        },
      )
      expect(performance.now() - killed).toBeLessThan(5_000)
      expect(await healthOf(one)).toMatchObject([200, { role: 'leader', epoch: '3' }])
      two = await startHeadless({ folder: two.folder, site, flags: [...flags, '--controller-name', 'two'] })
      expect(two.ready).toMatchObject({ role: 'standby' })
      const other = new ApiClient(two.ready, credential)
      other.token = api.token
      expect(await other.get('/rtc/room/get', { room_id: before })).toMatchObject({ ret: 0, topic: 'After' })
      expect(await two.stop()).toBe(0)
      expect(await one.stop()).toBe(0)
    },
  )
})
