import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { eventPath } from '../../../../server/nodes/secrets/janus-access.ts'
import { ApiClient } from '../../../support/api-client.ts'
import { freePort } from '../../../support/free-port.ts'
import { type JanusServer, startJanus } from '../../../support/janus/janus-server.ts'
import { Participant } from '../../../support/janus/participant.ts'
import { openControllerSite } from '../../../support/sites/controller-site.ts'
import { shared } from '../../../support/fixtures.ts'

const credential = { label: 'Client', access_key: 'client', secret_key: 'client-secret' }
const names = ['north', 'east', 'south'] as const
type Name = (typeof names)[number]

describe('A site with three Janus servers', () => {
  const servers = new Map<Name, JanusServer>()
  let key: string
  let api: ApiClient

  const server = (name: Name): JanusServer => {
    const found = servers.get(name)
    if (found === undefined) throw new Error(`no server ${name}`)
    return found
  }
  const addressOf = (name: Name): string => new URL(server(name).wsUrl).host
  /** Resolves a room's node for a client. */
  const mcu = async (room_id: string, idc_code = ''): Promise<unknown> => {
    const options = JSON.stringify({ ip_tag: '', idc_code })
    return (await api.get('/sdk/get_mcu', { room_id, options })).addr
  }
  const users = async (room_id: string): Promise<string[]> => {
    const { ret, user_list: list } = await api.get('/rtc/room/get_room_info', { room_id })
    expect(ret).toBe(0)
    return (list as { user_id: string }[]).map(({ user_id }) => user_id)
  }
  const nodesOf = async (room_id: string): Promise<string[]> => {
    const { room } = await site().call(key, 'rooms.get', { room_id })
    return [room.node, ...room.branches]
  }
  /** Joins at the assigned node, with the issued tokens. */
  const enter = async (room_id: string, user_id: string, idc_code = ''): Promise<Participant> => {
    const given = await site().call(key, 'media.participant_token', { room_id, user_id, idc_code })
    const person = await Participant.connect(given.ws_url, given.token)
    onTestFinished(() => person[Symbol.asyncDispose]())
    await person.join(given.room, user_id, given.room_token)
    await expect.poll(() => users(room_id)).toContain(user_id)
    return person
  }
  const open = async (): Promise<void> => {
    key = await site().key()
    const { listeners } = await site().call(key, 'overview.get', {})
    const url = (name: string): string => listeners.find((listener) => listener.name === name)?.url ?? ''
    api = new ApiClient({ media: url('media'), device: url('device') }, credential)
    await api.authenticate()
    // Resolves when each was polled once.
    expect(await states()).toEqual(names.map(() => 'online'))
  }
  const states = async (): Promise<string[]> => (await site().call(key, 'nodes.list', {})).map(({ state }) => state)

  const document = shared(async () => {
    const port = await freePort()
    const started = await Promise.all(
      names.map((name) =>
        startJanus({
          tokenSecret: `tokens of ${name}`,
          eventBackend: `ws://127.0.0.1:${port}${eventPath(name)}`,
        }),
      ),
    )
    for (const [at, name] of names.entries()) if (started[at] !== undefined) servers.set(name, started[at])
    return {
      credentials: [credential],
      nodes: names.map((name) => ({ ...server(name).asNode(name), idc_code: name, weight: name === 'north' ? 8 : 1 })),
      settings: { listeners: { event_port: port }, deadlines: { health_interval_ms: 200 } },
    }
  })
  const site = shared(
    () => openControllerSite(document()),
    async (site) => {
      await site.remove()
      for (const each of servers.values()) await each[Symbol.asyncDispose]()
    },
  )
  beforeAll(() => open())

  test('sends users to the requested server, and all are in one room', async () => {
    const room_id = await api.createRoom({ attendee_max: 3 })
    expect(await mcu(room_id, 'north')).toBe(addressOf('north'))
    // The room is still empty: it stays where it is.
    expect(await mcu(room_id, 'east')).toBe(addressOf('north'))
    await enter(room_id, 'ann', 'north')
    expect(await mcu(room_id, 'east')).toBe(addressOf('east'))
    const bob = await enter(room_id, 'bob', 'east')
    expect(await nodesOf(room_id)).toEqual(['north', 'east'])
    expect(await users(room_id)).toEqual(['ann', 'bob'])
    expect(await mcu(room_id)).toBe(addressOf('north'))
    const counts = (await site().call(key, 'nodes.list', {})).map((node) => [node.rooms, node.users])
    expect(counts).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ])

    // The user count of the room does not depend on the server.
    await enter(room_id, 'cleo', 'south')
    for (const idc_code of names) {
      const refused = await site().result(key, 'media.participant_token', { room_id, user_id: 'dan', idc_code })
      expect(refused).toMatchObject({ ok: false, error: { message: 'The room is full.' } })
    }

    // He also has tokens for a second server.
    const given = await site().call(key, 'media.participant_token', { room_id, user_id: 'bob', idc_code: 'south' })
    expect(await api.get('/rtc/force_offline_mcu', { room_id, user_id: 'bob' })).toMatchObject({ ret: 0 })
    await using back = await Participant.connect(given.ws_url, given.token)
    expect(await back.tryToJoin(given.room, 'bob', given.room_token)).toBe(433)
    await expect.poll(() => bob.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    expect(await users(room_id)).toEqual(['ann', 'cleo'])
    expect(await api.get('/rtc/force_offline_mcu', { room_id, user_id: 'bob' })).toMatchObject({ ret: 429 })

    expect(await api.get('/rtc/room/del', { room_id })).toMatchObject({ ret: 0 })
    const held = async (): Promise<number[]> =>
      await Promise.all(
        names.map(async (name) => {
          const { adminKey } = server(name).configuration.secrets
          const { list } = await server(name).ask('videoroom', { request: 'list', admin_key: adminKey })
          return (list as { description: string }[]).filter(({ description }) => description.startsWith('roomdesk'))
            .length
        }),
      )
    await expect.poll(held).toEqual([0, 0, 0])
  })

  test('counts a user who moves from one server to another once', async () => {
    const room_id = await api.createRoom()
    await mcu(room_id, 'north')
    await enter(room_id, 'ann', 'north')
    const first = await enter(room_id, 'bob', 'north')
    const given = await site().call(key, 'media.participant_token', { room_id, user_id: 'bob', idc_code: 'east' })
    await using second = await Participant.connect(given.ws_url, given.token)
    await second.join(given.room, 'bob', given.room_token)
    await expect.poll(() => first.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    expect(await users(room_id)).toEqual(['ann', 'bob'])
    // They were not kicked: they may rejoin.
    await second.ask({ request: 'leave' })
    await enter(room_id, 'bob', 'north')
    expect(await users(room_id)).toEqual(['ann', 'bob'])
    await api.get('/rtc/room/del', { room_id })
  })

  test('continues with the users of the other servers when one is killed, and when the controller restarts', async () => {
    const room_id = await api.createRoom()
    await mcu(room_id, 'north')
    await enter(room_id, 'ann', 'north')
    const bob = await enter(room_id, 'bob', 'east')
    await enter(room_id, 'cleo', 'south')
    await site().restart(document())
    await open()
    await expect.poll(async () => (await users(room_id)).sort()).toEqual(['ann', 'bob', 'cleo'])
    expect(await nodesOf(room_id)).toEqual(['north', 'east', 'south'])

    onTestFinished(async () => {
      await server('north').start()
      await server('south').start()
      // The controller avoids nodes that it has just lost.
      await site().restart(document())
      await open()
    })
    await server('south').stop()
    await expect.poll(() => nodesOf(room_id)).toEqual(['north', 'east'])
    await server('north').stop()
    await expect.poll(() => nodesOf(room_id)).toEqual(['east'])
    expect(await users(room_id)).toEqual(['bob'])
    expect(await mcu(room_id)).toBe(addressOf('east'))
    expect(bob.heard).not.toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    expect(await bob.ask({ request: 'configure', display: 'Bob' })).toMatchObject({ data: { configured: 'ok' } })
    await api.get('/rtc/room/del', { room_id })
  })
})
