import { describe, expect, test } from 'vitest'
import { startHeadless } from '../../support/headless.ts'
import { shared } from '../../support/fixtures.ts'

const credential = { label: 'Tester', access_key: 'tester', secret_key: 'tester-secret', p2p: true }
const send = { api: 'media', access_key: 'tester' } as const

describe('The API tester', () => {
  const server = shared(() =>
    startHeadless({ site: { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] } }),
  )
  const sessions = async (): Promise<number | undefined> =>
    (await server().rpc('credentials.list', {})).find(({ access_key }) => access_key === 'tester')?.sessions

  test('lists every operation of both APIs with its parameters', async () => {
    const operations = await server().rpc('tester.operations', {})
    expect(operations.map(({ name }) => name)).toContain('create_outgoing_user')
    const create = operations.find(({ name }) => name === 'create_room')
    expect(create).toMatchObject({ api: 'media', methods: ['GET'], token: 'access_token' })
    const [topic] = create?.parameters ?? []
    expect(topic).toEqual({
      name: 'topic',
      required: true,
      schema: { type: 'string', description: 'Must be 1 to 149 bytes of UTF-8.' },
    })
    expect(create?.parameters.find(({ name }) => name === 'room_mode')?.schema).toMatchObject({
      minimum: 1,
      maximum: 4,
    })
  })

  test("lists the operations of the original platform's clients, and sends them, whether enabled or not", async () => {
    const operations = await server().rpc('tester.operations', {})
    const older = operations.filter(({ setting }) => setting !== '')
    expect(older.map(({ name, path, setting }) => [name, path, setting])).toEqual([
      ['server_info', '/sdk/config/serverinfo', 'older_clients'],
      ['get_access_token', '/avd/api/admin/getAccessToken', 'get_access_token'],
      ['create_user_record', '/avd/api/record/createUserRecord', 'older_clients'],
      ['stop_record', '/avd/api/record/stop', 'older_clients'],
      ['get_record', '/avd/api/record/getRecord', 'older_clients'],
      ['find_records', '/avd/api/record/findRecords', 'older_clients'],
      ['delete_record', '/avd/api/record/delete', 'older_clients'],
      ['create_user_live', '/avd/api/live/createUserLive', 'older_clients'],
      ['stop_live', '/avd/api/live/stop', 'older_clients'],
      ['get_live', '/avd/api/live/getLive', 'older_clients'],
      ['find_lives', '/avd/api/live/findLives', 'older_clients'],
      ['delete_live', '/avd/api/live/delete', 'older_clients'],
    ])
    const exchange = { ...send, api: 'device', operation: 'get_access_token', params: {} } as const
    const { url } = await server().rpc('tester.send', exchange)
    expect(new URL(url).search).toBe('?accessKey=tester&secretKey=tester-secret')
  })

  test('sends many requests on one session, and opens another when it has ended', async () => {
    await server().rpc('credentials.end_sessions', { access_key: 'tester' })
    const create = { ...send, operation: 'create_room', params: { topic: '早会', owner_id: 'ann', room_mode: '1' } }
    for (let i = 0; i < 3; i++)
      expect(JSON.parse((await server().rpc('tester.send', create)).body)).toMatchObject({ ret: 0 })
    expect(await sessions()).toBe(1)
    await server().rpc('credentials.end_sessions', { access_key: 'tester' })
    expect(JSON.parse((await server().rpc('tester.send', create)).body)).toMatchObject({ ret: 0 })
    expect(await sessions()).toBe(1)
  })

  test('uses the session of a tested authentication for later requests', async () => {
    await server().rpc('credentials.end_sessions', { access_key: 'tester' })
    const sent = await server().rpc('tester.send', { ...send, operation: 'authenticate', params: {} })
    expect(JSON.parse(sent.body)).toMatchObject({ ret: 0 })
    const list = { ...send, operation: 'list_outgoing_users', api: 'device', params: {} } as const
    expect(JSON.parse((await server().rpc('tester.send', list)).body)).toMatchObject({ ret: 0 })
    expect(await sessions()).toBe(1)
  })

  test('sends a token of the operator unchanged', async () => {
    const params = { room_id: '1', access_token: 'wrong' }
    const sent = await server().rpc('tester.send', { ...send, operation: 'get_room', params })
    expect(JSON.parse(sent.body)).toMatchObject({ ret: 602 })
    expect(sent.url).toContain('access_token=wrong')
  })

  test('accepts and shows a self-signed certificate', async () => {
    await server().rpc('settings.set', { tls: { mode: 'self-signed' } })
    server().consoleSpeaks('https')
    const sent = await server().rpc('tester.send', { ...send, operation: 'authenticate', params: {} })
    expect(sent.url).toMatch(/^https:/)
    expect(JSON.parse(sent.body)).toMatchObject({ ret: 0 })
    const list = { ...send, operation: 'list_outgoing_users', api: 'device', params: {} } as const
    expect(JSON.parse((await server().rpc('tester.send', list)).body)).toMatchObject({ ret: 0 })
    await server().rpc('settings.set', { tls: { mode: 'off' } })
    server().consoleSpeaks('http')
    expect(JSON.parse((await server().rpc('tester.send', list)).body)).toMatchObject({ ret: 0 })
  })

  test('says why there is no answer', async () => {
    await server().rpc('lab.set_faults', { rules: [{ operation: 'get_room', drop: true }] })
    const result = await server().result('tester.send', { ...send, operation: 'get_room', params: { room_id: '1' } })
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'failed', message: 'The request got no answer: the connection was closed.' },
    })
    await server().rpc('lab.set_faults', { rules: [] })
  })

  test('says why a credential cannot be used', async () => {
    await server().rpc('credentials.update', { access_key: 'tester', enabled: false })
    await server().rpc('credentials.end_sessions', { access_key: 'tester' })
    const result = await server().result('tester.send', { ...send, operation: 'get_room', params: { room_id: '1' } })
    expect(result).toMatchObject({ ok: false, error: { code: 'failed' } })
    await server().rpc('credentials.update', { access_key: 'tester', enabled: true })
  })
})
