import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { eventPath } from '../../../../server/nodes/secrets/janus-access.ts'
import { ApiClient } from '../../../support/api-client.ts'
import { freePort } from '../../../support/free-port.ts'
import { type JanusServer, startJanus } from '../../../support/janus/janus-server.ts'
import { Participant } from '../../../support/janus/participant.ts'
import { type ControllerSite, openControllerSite } from '../../../support/sites/controller-site.ts'

const credential = { label: 'Client', access_key: 'client', secret_key: 'client-secret', p2p: true }
const secrets = {
  api_secret: 'api-secret-of-j',
  admin_secret: 'admin-secret-of-j',
  admin_key: 'admin-key-of-j',
  token_secret: 'token-secret-of-j',
}

describe('A site whose only node is a Janus server', () => {
  let janus: JanusServer
  let site: ControllerSite
  let document: object
  let key: string
  /** Signs a client in: a restart of the site changes its ports. */
  const client = async (): Promise<ApiClient> => {
    const { listeners } = await site.call(key, 'overview.get', {})
    const url = (name: string): string => listeners.find((listener) => listener.name === name)?.url ?? ''
    const api = new ApiClient({ media: url('media'), device: url('device') }, credential)
    await api.authenticate()
    return api
  }
  beforeAll(async () => {
    const port = await freePort()
    janus = await startJanus({
      secrets: { api: secrets.api_secret, admin: secrets.admin_secret, adminKey: secrets.admin_key },
      tokenSecret: secrets.token_secret,
      eventBackend: `ws://127.0.0.1:${port}${eventPath('j')}`,
    })
    const { wsUrl: ws_url, adminUrl: admin_url } = janus
    document = {
      credentials: [credential],
      nodes: [{ name: 'j', kind: 'janus', ws_url, admin_url, ...secrets }],
      settings: { listeners: { event_port: port } },
    }
    site = await openControllerSite(document)
    key = await site.key()
    const { listeners } = await site.call(key, 'overview.get', {})
    expect(listeners.find(({ name }) => name === 'event')?.url).toBe(`http://127.0.0.1:${port}`)
    return async () => {
      await site.remove()
      await janus[Symbol.asyncDispose]()
    }
  })

  test('opens the room there, sends clients to it, and lists who joins', async () => {
    const api = await client()
    const room_id = await api.createRoom({ max_video: 2, max_audio: 2 })
    const addr = new URL(janus.wsUrl).host
    expect(await api.get('/sdk/get_mcu', { room_id })).toEqual({ ret: 0, addr })
    const given = await site.call(key, 'media.participant_token', {
      room_id,
      user_id: 'ann',
      user_name: 'Ann',
      role: 'host',
    })
    expect(given).toMatchObject({ ws_url: janus.wsUrl, id: 'ann', display: 'Ann' })
    expect(given.room).toMatch(new RegExp(`^${room_id}-[\\w-]{22}$`))
    await using ann = await Participant.connect(given.ws_url, given.token)
    await ann.join(given.room, 'ann', given.room_token)
    await expect
      .poll(async () => (await site.call(key, 'rooms.get', { room_id })).users)
      .toMatchObject([{ user_id: 'ann', role: 'host' }])
    await site.call(key, 'rooms.kick', { room_id, user_id: 'ann' })
    await expect.poll(() => ann.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    const refused = await site.result(key, 'media.participant_token', { room_id, user_id: 'ann' })
    expect(refused).toMatchObject({ ok: false, error: { code: 'conflict' } })
  })

  test('a test of the node reports that its events do not arrive: its secret differs from its files', async () => {
    const [node] = await site.call(key, 'nodes.list', {})
    const { findings } = await site.call(key, 'nodes.test', { ...node?.config, name: 'j', kind: 'janus' })
    expect(findings.map(({ code }) => code)).toContain('eventsOff')
  })

  test('says what to change if a token cannot be issued', async () => {
    const { room_id } = await site.call(key, 'rooms.create', { topic: 'Locked' })
    await site.call(key, 'rooms.lock', { room_ids: [room_id] })
    const ask = async (): Promise<string> => {
      const result = await site.result(key, 'media.participant_token', { room_id, user_id: 'bob' })
      return result.ok ? 'given' : result.error.message
    }
    await expect.poll(ask).toBe('The room is locked.')
    const [node] = await site.call(key, 'nodes.list', {})
    onTestFinished(async () => {
      await site.call(key, 'nodes.update', { ...node?.config, name: 'j', kind: 'janus', ...secrets })
    })
    await site.call(key, 'nodes.update', { ...node?.config, name: 'j', kind: 'janus', token_secret: '' })
    await expect.poll(ask).toContain('has no token_secret')
  })

  test('shows which secrets its node has, never their values; a site file applied again changes nothing', async () => {
    const [before] = await site.call(key, 'nodes.list', {})
    expect(before).toMatchObject({ secrets: ['api_secret', 'admin_secret', 'admin_key', 'token_secret'] })
    const stored = async (): Promise<string> => {
      const names = await readdir(site.folder)
      const texts = names
        .filter((name) => name.endsWith('.json'))
        .map((name) => readFile(join(site.folder, name), 'utf8'))
      return (await Promise.all(texts)).join('\n')
    }
    await site.restart(document)
    const told = await site.call(key, 'events.list', { limit: 200 })
    const shown = JSON.stringify([before, told, await stored()])
    for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret)
    const changes = told.items.filter(({ kind, subject }) => kind === 'site.changed' && subject.type === 'node')
    await site.restart(document)
    const again = await site.call(key, 'events.list', { limit: 200 })
    expect(again.items.filter(({ kind, subject }) => kind === 'site.changed' && subject.type === 'node')).toHaveLength(
      changes.length,
    )
    // A missing secret is kept, an empty one is removed.
    const { config } = before ?? {}
    onTestFinished(async () => {
      await site.call(key, 'nodes.update', { ...config, name: 'j', kind: 'janus', ...secrets })
    })
    await site.call(key, 'nodes.update', { ...config, name: 'j', kind: 'janus', admin_key: '' })
    expect((await site.call(key, 'nodes.list', {}))[0]?.secrets).toEqual(['api_secret', 'admin_secret', 'token_secret'])
  })

  test('is refused with invalid addresses, with the path of each problem', async () => {
    const wrong = {
      name: 'k',
      kind: 'janus',
      ws_url: 'http://10.0.0.7',
      admin_url: 'ws://u:p@10.0.0.7',
      token_secret: 'a\nb',
    } as const
    const result = await site.result(key, 'nodes.add', wrong)
    expect(result).toMatchObject({ ok: false, error: { code: 'invalid' } })
    expect(JSON.stringify(result)).toMatch(/ws_url.*admin_url.*token_secret/)
    expect(await site.result(key, 'nodes.add', { name: 'k', kind: 'simulated', api_secret: 'x' })).toMatchObject({
      ok: false,
      error: { code: 'invalid' },
    })
  })
})
