import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { EventEntry, EventFilter } from '../../../shared/domain/events.ts'
import { verifyLog } from '../../../server/event-log/verify.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { ApiClient } from '../../support/api-client.ts'
import { startHeadless } from '../../support/headless.ts'
import { shared } from '../../support/fixtures.ts'

const credential = { label: 'Lobby', access_key: 'lobby', secret_key: 'Secret-of-the-lobby-1', p2p: true }
const site = {
  credentials: [credential],
  nodes: [{ name: 'lab', kind: 'simulated' }],
  settings: { media: { ice_servers: [{ urls: ['turn:10.0.0.1'], username: 'u', credential: 'Secret-of-turn-2' }] } },
}

describe('The event log of a site', () => {
  const server = shared(() => startHeadless({ site }))
  const api = shared(async () => {
    const api: ApiClient = new ApiClient(server().ready, credential)
    await api.authenticate()
    return api
  })

  async function events(filter: EventFilter = {}): Promise<EventEntry[]> {
    return (await server().rpc('events.list', { ...filter, limit: 500 })).items
  }
  async function newest(filter: EventFilter = {}): Promise<EventEntry | undefined> {
    return (await events(filter))[0]
  }

  test('records the start, changes by the site file, listeners that listen and nodes that are online', async () => {
    const told = (await events()).map(
      ({ kind, subject, actor }) => `${kind} ${subject.type} ${subject.id} ${actor.type}`,
    )
    expect(told).toEqual(
      expect.arrayContaining([
        'log.begun site  system',
        'controller.started site  system',
        'site.changed credential lobby siteFile',
        'site.changed node lab siteFile',
        'site.changed settings site siteFile',
        'listener.up listener media system',
        'listener.up listener console system',
        'node.online node lab system',
      ]),
    )
  })

  test('records who changed what, from where, and the previous value', async () => {
    await server().rpc('settings.set', { room_defaults: { max_video: 4 } })
    expect(await newest()).toMatchObject({
      kind: 'site.changed',
      actor: { type: 'operator', name: 'console key', address: '127.0.0.1' },
      subject: { type: 'settings' },
      params: { procedure: 'settings.set' },
      before: { 'room_defaults.max_video': 16 },
      after: { 'room_defaults.max_video': 4 },
    })
    const { seq } = (await newest()) ?? { seq: 0 }
    await server().rpc('settings.set', { room_defaults: { max_video: 4 } })
    expect((await newest())?.seq).toBe(seq)
  })

  test('follows a room from its creation to its end, its users and its cameras, each by name', async () => {
    const room_id = await api().createRoom({ topic: 'Night shift' })
    const room = { type: 'room', id: room_id } as const
    expect(await newest({ subject: room })).toMatchObject({
      kind: 'room.created',
      actor: { type: 'client', name: 'lobby', address: '127.0.0.1' },
      subject: { ...room, name: 'Night shift' },
    })
    await server().rpc('lab.join', { room_id, user_id: 'ann', user_name: 'Ann' })
    await server().rpc('devices.create', {
      roomId: room_id,
      userId: 'cam',
      userName: 'Gate',
      userAddress: 'rtsp://10.0.0.9/live',
    })
    await expect.poll(() => newest({ subject: { type: 'device', id: 'cam' } })).toMatchObject({ kind: 'device.joined' })
    await server().rpc('lab.lose_device', { userId: 'cam', kind: 'stalled' })
    await expect
      .poll(() => events({ groups: ['devices'], subject: { type: 'device', id: 'cam' } }))
      .toContainEqual(
        expect.objectContaining({
          kind: 'device.lost',
          level: 'warning',
          params: { reason: 'stalled' },
          room: room_id,
        }),
      )
    await server().rpc('lab.leave', { room_id, user_id: 'ann' })
    await server().rpc('rooms.close', { room_ids: [room_id, 'nowhere'] })
    await server().rpc('rooms.delete', { room_ids: [room_id] })
    const told = (await events({ subject: room })).map(
      ({ kind, params, subject }) => `${kind} ${subject.name} ${String(params.procedure ?? '')}`,
    )
    expect(told[0]).toBe('site.changed Night shift rooms.delete')
    expect(told).toEqual(
      expect.arrayContaining(['site.changed Night shift rooms.close', 'person.joined Ann ', 'person.left Ann ']),
    )
    expect(await newest({ subject: { type: 'room', id: 'nowhere' } })).toBeUndefined()
  })

  test('records each person removed from a room and who removed them: a client or an operator', async () => {
    const room_id = await api().createRoom({ topic: 'Reception' })
    for (const [user_id, user_name] of [
      ['ben', 'Ben'],
      ['cleo', 'Cleo'],
    ] as const)
      await server().rpc('lab.join', { room_id, user_id, user_name })
    await api().get('/rtc/force_offline_mcu', { room_id, user_id: 'ben' })
    await server().rpc('rooms.kick', { room_id, user_id: 'cleo' })
    expect(await newest({ subject: { type: 'person', id: 'ben' }, groups: ['people'], text: 'removed' })).toMatchObject(
      {
        kind: 'person.removed',
        actor: { type: 'client', name: 'lobby', address: '127.0.0.1' },
        subject: { name: 'Ben' },
        room: room_id,
      },
    )
    expect(await newest({ subject: { type: 'person', id: 'cleo' }, actor: 'console key' })).toMatchObject({
      params: { procedure: 'rooms.kick' },
      actor: { type: 'operator', address: '127.0.0.1' },
      subject: { name: 'Cleo' },
      room: room_id,
    })
  })

  test('records moves of rooms between nodes', async () => {
    await server().rpc('nodes.add', {
      name: 'spare',
      kind: 'simulated',
      addresses: [{ tag: 'local', addr: '10.0.0.6:7082' }],
    })
    const room_id = await api().createRoom({ topic: 'Moves' })
    await expect.poll(async () => (await api().get('/sdk/get_mcu', { room_id, options: '{}' })).ret).toBe(0)
    const from = (await server().rpc('rooms.get', { room_id })).room.node
    await server().rpc('nodes.disable', { name: from })
    await expect.poll(async () => (await api().get('/sdk/get_mcu', { room_id, options: '{}' })).ret).toBe(0)
    expect(await newest({ subject: { type: 'room', id: room_id }, text: 'moved' })).toMatchObject({
      kind: 'room.moved',
      subject: { name: 'Moves' },
      params: { from, to: from === 'lab' ? 'spare' : 'lab' },
    })
    await server().rpc('nodes.enable', { name: from })
  })

  test('records once that a node returned without its rooms, which were opened there again', async () => {
    const room_id = await api().createRoom({ topic: 'Is lost' })
    await expect.poll(async () => (await api().get('/sdk/get_mcu', { room_id, options: '{}' })).ret).toBe(0)
    const name = (await server().rpc('rooms.get', { room_id })).room.node
    await server().rpc('lab.node_trouble', { name, mode: 'offline' })
    await server().rpc('lab.node_trouble', { name, mode: 'none' })
    const drifted = () => events({ subject: { type: 'node', id: name }, text: 'roomMissing' })
    await expect
      .poll(drifted)
      .toMatchObject([{ kind: 'node.drifted', level: 'warning', params: { found: 'roomMissing' } }])
  })

  test('records sign-ins and wrong keys', async () => {
    const key = (await readFile(join(server().folder, 'console.key'), 'utf8')).trim()
    for (const [offered, status] of [
      ['x'.repeat(40), 401],
      [key, 204],
    ] as const) {
      const answer = await fetch(`${server().ready.console}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key: offered }),
      })
      expect(answer.status).toBe(status)
    }
    expect((await events({ groups: ['access'] })).slice(0, 2)).toMatchObject([
      { kind: 'signIn.accepted', actor: { type: 'operator', address: '127.0.0.1' } },
      { kind: 'signIn.refused', level: 'warning', actor: { type: 'client', address: '127.0.0.1' } },
    ])
  })

  test('contains no secret of an operator or a client', async () => {
    const secrets = [credential.secret_key, 'Secret-of-turn-2']
    const secret = (): string => {
      const made = `Hidden-${secrets.length}-Pw9x`
      secrets.push(made)
      return made
    }
    const call = <N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> =>
      server().rpc(name, input)
    await call('credentials.create', { label: 'Second', access_key: 'second', secret_key: secret() })
    const rotated = await call('credentials.rotate', { access_key: 'second' })
    secrets.push(rotated.secret_key)
    await call('credentials.rotate', { access_key: 'second', secret_key: secret() })
    await call('credentials.reveal', { access_key: 'second' })
    const { room_id } = await call('rooms.create', { topic: 'Quiet', host_password: secret() })
    await call('rooms.update', { room_id, host_password: secret() })
    await call('rooms.reveal_password', { room_id })
    await api().get('/rtc/room/update', { room_id, host_password: secret() })
    const device = { roomId: room_id, userId: 'hidden', userName: 'Hidden camera' }
    await call('devices.create', {
      ...device,
      userAddress: `rtsp://admin:${secret()}@10.0.0.9/live`,
      userData: secret(),
    })
    await call('devices.update', { userId: 'hidden', login_name: 'admin', login_password: secret() })
    await call('devices.update', { userId: 'hidden', userAddress: `rtsp://10.0.0.9/user=admin&password=${secret()}` })
    await call('devices.import', {
      text: `roomId,userId,userName,userAddress,login_password\n${room_id},hidden,New name,rtsp://10.0.0.9/live,${secret()}`,
    })
    await call('settings.set', {
      media: { ice_servers: [{ urls: ['turn:10.0.0.2'], username: 'v', credential: secret() }] },
    })
    secrets.push((await readFile(join(server().folder, 'console.key'), 'utf8')).trim())
    const all = await events()
    const done = all.filter(({ kind }) => kind === 'site.changed').map(({ params }) => params.procedure)
    expect(done).toEqual(expect.arrayContaining(['credentials.rotate', 'rooms.update', 'devices.import']))
    expect(all.filter(({ kind }) => kind === 'secret.shown')).toHaveLength(2)
    expect(all.find(({ params }) => params.procedure === 'rooms.update')?.after).toEqual({
      host_password: '[redacted]',
    })
    const folder = join(server().folder, 'events')
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    const text = files.join('\n').toLowerCase()
    for (const each of secrets) expect(text).not.toContain(each.toLowerCase())
  })

  test("verifies after a restored backup, which it records, and so does the backup's copy", async () => {
    const { entries } = await server().rpc('events.verify', {})
    const { name } = await server().rpc('backups.make', {})
    await server().rpc('rooms.create', { topic: 'Later' })
    await server().rpc('backups.restore', { name })
    expect(await events({ groups: ['changes'], text: name })).toMatchObject([
      { params: { procedure: 'backups.restore', backup: name }, subject: { type: 'settings' } },
      { params: { procedure: 'backups.restore', backup: name }, subject: { type: 'site' } },
      { params: { procedure: 'backups.make' }, subject: { type: 'backup', id: name } },
    ])
    expect(await server().rpc('events.verify', {})).toMatchObject({ ok: true, fault: null, unsealed: 0 })
    // The backup holds the log of its time, which verifies with the key of the site.
    const sealer = createSealer(await loadKeyFile(join(server().folder, 'seal.key')))
    const kept = await verifyLog(join(server().folder, 'backups', name, 'events'), sealer)
    expect(kept).toMatchObject({ ok: true })
    expect(kept.entries).toBeGreaterThanOrEqual(entries)
    expect(entries).toBeGreaterThan(0)
  })
})
