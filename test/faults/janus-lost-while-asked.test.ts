import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { startCamera } from '../support/camera/camera.ts'
import { startHeadless } from '../support/headless.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { Participant } from '../support/janus/participant.ts'

const credential = { access_key: 'lobby', secret_key: 'a secret of the tests', label: 'Lobby' }
const rounds = 8
/** Clients give up after 5 s. */
const maxAnswerMs = 4_800

test('a Janus server hangs: only calls of the first 4 seconds are not answered, then the room is on the other server', async () => {
  await using north = await startJanus({ tokenSecret: 'tokens' })
  await using south = await startJanus({ tokenSecret: 'tokens' })
  const servers = { north, south }
  const nodes = [north.asNode('north'), south.asNode('south')]
  const controller = await startHeadless({ site: { credentials: [credential], nodes } })
  try {
    const client = new ApiClient(controller.ready, credential)
    await client.authenticate()
    const room_id = await client.createRoom()
    const given = await controller.rpc('media.participant_token', { room_id, user_id: 'ann' })
    await using ann = await Participant.connect(given.ws_url, given.token)
    await ann.join(given.room, 'ann', given.room_token)
    const room = async () => await controller.rpc('rooms.get', { room_id })
    await expect.poll(async () => (await room()).users.length).toBe(1)
    const name = (await room()).room.node === 'north' ? 'north' : 'south'
    await servers[name].signal('SIGSTOP')
    const began = performance.now()
    const calls: { ret: unknown; at: number; took: number }[] = []
    while (performance.now() - began < 9_000) {
      const at = Math.round(performance.now() - began)
      const { ret } = await client.get('/rtc/room/get_room_info', { room_id })
      calls.push({ ret, at, took: Math.round(performance.now() - began) - at })
    }
    const slow = calls.filter(({ took }) => took > 200)
    console.info(`calls of more than 200 ms: ${JSON.stringify(slow)}; ${calls.length} calls`)
    expect(calls.filter(({ ret, at }) => ret !== 0 && (ret !== 409 || at > 0))).toEqual([])
    expect(slow.length).toBeLessThanOrEqual(2)
    expect((await room()).room.node).toBe(name === 'north' ? 'south' : 'north')
    await servers[name].signal('SIGCONT')
  } finally {
    await controller.remove()
  }
}, 60_000)

test('a Janus server is killed while a device joins its room and a user of it is removed: both calls succeed on the other server', async () => {
  await using camera = await startCamera()
  await using north = await startJanus({ tokenSecret: 'tokens' })
  await using south = await startJanus({ tokenSecret: 'tokens' })
  const servers = { north, south }
  const nodes = [north.asNode('north'), south.asNode('south')]
  const controller = await startHeadless({ site: { credentials: [credential], nodes } })
  try {
    const client = new ApiClient(controller.ready, credential)
    await client.authenticate()
    const online = async (): Promise<string[]> =>
      (await controller.rpc('nodes.list', {})).flatMap(({ config, state }) => (state === 'online' ? [config.name] : []))
    const longest = { create: 0, kick: 0 }
    const timed = async <T>(what: keyof typeof longest, call: Promise<T>): Promise<T> => {
      const began = performance.now()
      const answer = await call
      longest[what] = Math.max(longest[what], Math.round(performance.now() - began))
      return answer
    }
    for (let round = 0; round < rounds; round++) {
      await expect.poll(online, { timeout: 30_000 }).toEqual(['north', 'south'])
      const [roomId, other] = [await client.createRoom(), await client.createRoom()]
      await client.get('/sdk/get_mcu', { room_id: roomId })
      const name = (await controller.rpc('rooms.get', { room_id: roomId })).room.node === 'north' ? 'north' : 'south'
      await using ann = await enter(name, other)
      const device = { roomId, userId: `cam-${round}`, userName: 'Yard', userAddress: camera.url('/stream1') }
      const killed = servers[name].stop('SIGKILL')
      // From the moment of the death to the first polls after it.
      await new Promise((resolve) => setTimeout(resolve, 40 * round))
      const [created, kicked] = await Promise.all([
        timed('create', client.outgoing('createOutgoingUser', device)),
        timed('kick', client.get('/rtc/force_offline_mcu', { room_id: other, user_id: ann.userId })),
      ])
      await killed
      expect([round, created]).toEqual([round, expect.objectContaining({ ret: 0 })])
      // 429: the controller had noticed before it was asked, and the room was on the other server.
      expect([0, 429]).toContain(kicked.ret)
      await expect
        .poll(async () => (await controller.rpc('rooms.get', { room_id: roomId })).users.map(({ user_id }) => user_id))
        .toEqual([device.userId])
      await servers[name].start()
    }
    console.info(`longest answers: createOutgoingUser ${longest.create} ms, force_offline_mcu ${longest.kick} ms`)
    expect(Math.max(longest.create, longest.kick)).toBeLessThan(maxAnswerMs)

    /** Somebody enters a room, which is given that server. */
    async function enter(node: string, room_id: string): Promise<Participant & { userId: string }> {
      const other = node === 'north' ? 'south' : 'north'
      await controller.rpc('nodes.drain', { name: other })
      const given = await controller.rpc('media.participant_token', { room_id, user_id: 'ann' })
      await controller.rpc('nodes.undrain', { name: other })
      const person = await Participant.connect(given.ws_url, given.token)
      await person.join(given.room, 'ann', given.room_token)
      await expect
        .poll(async () => (await controller.rpc('rooms.get', { room_id })).users.map(({ user_id }) => user_id))
        .toEqual(['ann'])
      return Object.assign(person, { userId: 'ann' })
    }
  } finally {
    await controller.remove()
  }
}, 240_000)
