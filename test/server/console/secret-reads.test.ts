import { once } from 'node:events'
import { createServer } from 'node:http'
import { onTestFinished, expect, test } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'

const lobby = { access_key: 'lobby', secret_key: 'the secret of the lobby' }

test('Each way to read a secret records an event with the reader and the address, but not the secret', async () => {
  const site = await controllerSite({ credentials: [lobby] })
  const { name } = await site.create('ann', 'admin')
  const ann = await site.signIn(name)
  const { room_id } = await site.call(ann, 'rooms.create', { topic: 'Morning', host_password: 'of the host' })
  const backup = await site.call(ann, 'backups.make', {})
  const reads = async (): Promise<EventEntry[]> => (await site.call(ann, 'events.list', {})).items
  const told = async (read: () => Promise<unknown>): Promise<EventEntry[]> => {
    const before = (await reads())[0]?.seq ?? 0
    await read()
    return (await reads()).filter(({ seq, actor }) => seq > before && actor.type === 'operator')
  }
  const shown = (type: string, id: string) => [
    {
      kind: 'secret.shown',
      actor: { type: 'operator', name: 'ann', address: '127.0.0.1' },
      subject: { type, id },
    },
  ]
  const send = { api: 'media', access_key: 'lobby', operation: 'authenticate', params: {} } as const
  expect(await told(() => site.call(ann, 'credentials.reveal', { access_key: 'lobby' }))).toMatchObject(
    shown('credential', 'lobby'),
  )
  expect(await told(() => site.call(ann, 'credentials.curl', { access_key: 'lobby' }))).toMatchObject(
    shown('credential', 'lobby'),
  )
  expect(await told(() => site.call(ann, 'tester.send', send))).toMatchObject(shown('credential', 'lobby'))
  expect(await told(() => site.call(ann, 'rooms.reveal_password', { room_id }))).toMatchObject(shown('room', room_id))
  // Without a credential no secret is sent or returned.
  expect(await told(() => site.call(ann, 'tester.send', { ...send, access_key: '' }))).toEqual([])

  const part = (offset: number) => site.call(ann, 'backups.read', { name: backup.name, offset, length: 512 })
  const [download, ...more] = await told(() => part(512))
  expect([download?.subject, more]).toMatchObject([{ type: 'backup', id: backup.name }, []])
  // The parts of one download are one event, wherever it begins.
  expect(await told(() => part(1_024))).toEqual([])
  expect(await told(() => part(0))).toHaveLength(1)
  expect(JSON.stringify(await reads())).not.toMatch(/the secret of the lobby|of the host/)
})

test('The test of a Janus node sends stored secrets only to the server that they were stored for', async () => {
  const asked: string[] = []
  const thief = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => asked.push(text))
    request.on('end', () => response.writeHead(404).end())
  })
  thief.on('upgrade', (_, socket) => socket.destroy())
  thief.listen(0, '127.0.0.1')
  await once(thief, 'listening')
  onTestFinished(() => void thief.close())
  const address = thief.address()
  const place = typeof address === 'object' ? `127.0.0.1:${address?.port}` : ''
  const hall = {
    name: 'hall',
    kind: 'janus',
    enabled: false,
    ws_url: 'ws://127.0.0.1:9',
    admin_url: 'http://127.0.0.1:9/admin',
  } as const
  const site = await controllerSite({
    nodes: [{ ...hall, admin_secret: 'the admin secret', api_secret: 'the api secret' }],
  })
  const key = await site.key()
  const otherServer = { ...hall, admin_url: `http://${place}/admin` }
  for (const node of [otherServer, { ...otherServer, admin_secret: '******' }, { ...hall, ws_url: `ws://${place}` }])
    expect(await site.result(key, 'nodes.test', node)).toMatchObject({
      ok: false,
      error: { code: 'invalid', problems: [{ path: 'api_secret' }, { path: 'admin_secret' }] },
    })
  expect(asked).toEqual([])
  // At its own server, or with new secrets, the test runs.
  expect(await site.result(key, 'nodes.test', hall)).toMatchObject({ ok: true })
  const given = { ...otherServer, admin_secret: 'another', api_secret: '' }
  expect(await site.result(key, 'nodes.test', given)).toMatchObject({ ok: true })
  expect(asked.join()).not.toMatch(/the (admin|api) secret/)
})
