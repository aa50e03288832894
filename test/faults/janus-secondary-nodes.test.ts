import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { startCamera } from '../support/camera/camera.ts'
import { type Headless, startHeadless } from '../support/headless.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { Participant } from '../support/janus/participant.ts'

const credential = { access_key: 'lobby', secret_key: 'a secret of the tests', label: 'Lobby' }
const names = ['north', 'east', 'south'] as const
/** Clients give up after 5 s; a hanging secondary node costs a second. */
const maxAnswerMs = 2_500

test('a room with users on three Janus servers and a camera: one hangs, the one with the camera is killed, the controller is killed, and users of the last one notice nothing', async () => {
  await using camera = await startCamera()
  await using north = await startJanus({ tokenSecret: 'tokens' })
  await using east = await startJanus({ tokenSecret: 'tokens' })
  await using south = await startJanus({ tokenSecret: 'tokens' })
  const servers = { north, east, south }
  const site = {
    credentials: [credential],
    nodes: names.map((name) => ({
      ...servers[name].asNode(name),
      idc_code: name,
      max_users: name === 'north' ? 2 : 0,
    })),
    settings: { deadlines: { health_interval_ms: 500 } },
  }
  const people: Participant[] = []
  let controller = await startHeadless({ site })
  try {
    let client = await clientOf(controller)
    const room_id = await client.createRoom()
    const info = async (): Promise<string[]> => {
      const began = performance.now()
      const { ret, user_list: list } = await client.get('/rtc/room/get_room_info', { room_id })
      expect(performance.now() - began).toBeLessThan(maxAnswerMs)
      expect(ret).toBe(0)
      return (list as { user_id: string }[]).map(({ user_id }) => user_id).sort()
    }
    const nodes = async (): Promise<string[]> => {
      const { room } = await controller.rpc('rooms.get', { room_id })
      return [room.node, ...room.branches]
    }
    const enter = async (user_id: string, idc_code = ''): Promise<Participant> => {
      const given = await controller.rpc('media.participant_token', { room_id, user_id, idc_code })
      const person = await Participant.connect(given.ws_url, given.token)
      people.push(person)
      await person.join(given.room, user_id, given.room_token)
      await expect.poll(info, { timeout: 10_000 }).toContain(user_id)
      return person
    }
    const options = JSON.stringify({ idc_code: 'north' })
    expect(await client.get('/sdk/get_mcu', { room_id, options })).toMatchObject({ addr: new URL(north.wsUrl).host })
    const yard = { roomId: room_id, userId: 'yard', userName: 'Yard', userAddress: camera.url('/stream1') }
    expect(await client.outgoing('createOutgoingUser', yard)).toMatchObject({ ret: 0 })
    await enter('ann')
    // North is full with two users: the next one goes to another server.
    const bob = await enter('bob')
    const [, second] = await nodes()
    const third = second === 'east' ? 'south' : 'east'
    await enter('cleo', third)
    expect(await nodes()).toEqual(['north', second, third])
    expect(await info()).toEqual(['ann', 'bob', 'cleo', 'yard'])

    await servers[third].signal('SIGSTOP')
    expect(await info()).toEqual(['ann', 'bob', 'cleo', 'yard'])
    await expect.poll(nodes, { timeout: 15_000 }).toEqual(['north', second])
    expect(await info()).toEqual(['ann', 'bob', 'yard'])
    await servers[third].signal('SIGCONT')

    await north.stop('SIGKILL')
    await expect.poll(nodes, { timeout: 15_000 }).toEqual([second])
    await expect.poll(info, { timeout: 15_000 }).toEqual(['bob', 'yard'])
    const left = servers[second === 'east' ? 'east' : 'south']
    const asked = { request: 'list', admin_key: left.configuration.secrets.adminKey }
    expect((await left.ask('streaming', asked)).list).toHaveLength(1)

    await controller.stop('SIGKILL')
    controller = await startHeadless({ folder: controller.folder })
    client = await clientOf(controller)
    await expect.poll(info, { timeout: 15_000 }).toEqual(['bob', 'yard'])
    expect(await nodes()).toEqual([second])
    expect(bob.heard.filter(({ reason }) => reason !== undefined)).toEqual([])
    expect(await bob.ask({ request: 'configure', display: 'Bob' })).toMatchObject({ data: { configured: 'ok' } })
  } finally {
    for (const person of people) await person[Symbol.asyncDispose]().catch(() => undefined)
    await controller.remove()
  }
})

async function clientOf(controller: Headless): Promise<ApiClient> {
  const client = new ApiClient(controller.ready, credential)
  await client.authenticate()
  return client
}
