import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

const login = { login_name: 'admin', login_password: 'se:cret' }

/** What happens to cameras in the rooms of a Janus node over its life; the stories follow each other. */
test('cameras of a site on a guarded Janus node: refused with the reason, through its death, its sleep and its leave', async () => {
  await using camera = await startCamera({ auth: 'digest', fps: 10 })
  await using janus = await startJanus({ tokenSecret: 'token secret' })
  const node = janus.asNode()
  // The embedded node looks at cameras, and takes no rooms.
  const site = { nodes: [{ name: 'here', kind: 'embedded' }, node] }
  const controller = await startHeadless({ site })
  onTestFinished(async () => {
    await controller.stop()
    await removeFolder(controller.folder)
  })
  await controller.rpc('nodes.drain', { name: 'here' })
  const { room_id: roomId } = await controller.rpc('rooms.create', { topic: 'yard' })
  const device = { roomId, userId: 'cam', userName: 'Yard', userAddress: camera.url('/small') }
  const state = async () => (await controller.rpc('devices.list', {}))[0]?.state
  const isJoined = (timeout = 30_000) => expect.poll(state, { timeout, interval: 100 }).toBe('joined')

  const refused = await controller.result('devices.create', {
    ...device,
    login_name: 'admin',
    login_password: 'wrong',
    join: 'required',
  })
  expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining('refused the login') } })
  expect(await mountpoints(janus)).toBe(0)

  await controller.rpc('devices.create', { ...device, ...login, join: 'required' })
  expect(await publishers(janus, roomId)).toEqual(['cam'])

  // Dead and back, empty: the room is made again, and its camera joins it.
  await janus.restart('SIGKILL')
  await expect.poll(() => publishers(janus, roomId), { timeout: 30_000 }).toEqual(['cam'])
  await isJoined()

  // It sleeps for a moment: whoever was there stays.
  await janus.signal('SIGSTOP')
  await sleep(3_000)
  await janus.signal('SIGCONT')
  await isJoined()
  await expect.poll(() => publishers(janus, roomId), { timeout: 30_000 }).toEqual(['cam'])

  // A trial of its configuration takes nothing from it.
  const joins = async () => (await controller.rpc('devices.history', { userId: 'cam' })).length
  const before = await joins()
  await controller.rpc('nodes.test', node)
  expect([await publishers(janus, roomId), await joins()]).toEqual([['cam'], before])

  // The camera dies, and comes back.
  await camera.kill()
  await expect.poll(state, { timeout: 30_000 }).toBe('waiting')
  await using again = await startCamera({ auth: 'digest', fps: 10, port: camera.port })
  expect(again.port).toBe(camera.port)
  await isJoined(60_000)

  // Out of service it has nothing of the site any more.
  await controller.rpc('nodes.disable', { name: 'janus' })
  await expect.poll(() => mountpoints(janus)).toBe(0)
  await controller.rpc('nodes.enable', { name: 'janus' })
  await isJoined(60_000)
  expect(await publishers(janus, roomId)).toEqual(['cam'])

  await controller.rpc('devices.remove', { userIds: ['cam'] })
  expect(await publishers(janus, roomId)).toEqual([])
  expect(await mountpoints(janus)).toBe(0)
}, 240_000)

/** Who publishes in a room; nobody where there is none. */
async function publishers(janus: JanusServer, room: string): Promise<string[]> {
  try {
    const { participants } = await janus.ask('videoroom', { request: 'listparticipants', room })
    return (participants as { id: string; publisher: boolean }[]).filter((one) => one.publisher).map(({ id }) => id)
  } catch {
    return []
  }
}

async function mountpoints(janus: JanusServer): Promise<number> {
  const { adminKey } = janus.configuration.secrets
  const { list } = await janus.ask('streaming', { request: 'list', admin_key: adminKey })
  return (list as unknown[]).length
}
