import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { cameraCertificate } from '../support/camera/camera-certificate.ts'
import { startHeadless } from '../support/headless.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

const login = { login_name: 'admin', login_password: 'se:cret' }

/** Events in the life of a Janus node with cameras; the stories follow each other. */
test('cameras of a site on a guarded Janus node: refused with the reason, through its crash, freeze and removal', async () => {
  await using camera = await startCamera({ auth: 'digest', fps: 10 })
  await using janus = await startJanus({ tokenSecret: 'token secret' })
  const node = janus.asNode()
  // The embedded node probes cameras, and takes no rooms.
  const site = { nodes: [{ name: 'here', kind: 'embedded' }, node] }
  const controller = await startHeadless({ site })
  onTestFinished(async () => {
    await controller.remove()
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

  // Back without rooms after a crash: the room is opened again, and its camera joins it.
  await janus.restart('SIGKILL')
  await expect.poll(() => publishers(janus, roomId), { timeout: 30_000 }).toEqual(['cam'])
  await isJoined()

  // Frozen for a moment: all participants stay.
  await janus.signal('SIGSTOP')
  await sleep(3_000)
  await janus.signal('SIGCONT')
  await isJoined()
  await expect.poll(() => publishers(janus, roomId), { timeout: 30_000 }).toEqual(['cam'])

  // A test of its configuration changes nothing.
  const joins = async () => (await controller.rpc('devices.history', { userId: 'cam' })).length
  const before = await joins()
  await controller.rpc('nodes.test', node)
  expect([await publishers(janus, roomId), await joins()]).toEqual([['cam'], before])

  // The camera dies, and returns.
  await camera.kill()
  await expect.poll(state, { timeout: 30_000 }).toBe('waiting')
  await using again = await startCamera({ auth: 'digest', fps: 10, port: camera.port })
  expect(again.port).toBe(camera.port)
  await isJoined(60_000)

  // Out of service it holds nothing of the site any more.
  await controller.rpc('nodes.disable', { name: 'janus' })
  await expect.poll(() => mountpoints(janus)).toBe(0)
  await controller.rpc('nodes.enable', { name: 'janus' })
  await isJoined(60_000)
  expect(await publishers(janus, roomId)).toEqual(['cam'])

  await controller.rpc('devices.remove', { userIds: ['cam'] })
  expect(await publishers(janus, roomId)).toEqual([])
  expect(await mountpoints(janus)).toBe(0)
}, 240_000)

/** Without an embedded node the room page's process probes cameras. */
test('the allowed networks of cameras apply on a site whose only node is a Janus server, also to cameras in rooms; rtsps:// is refused with the remedy', async () => {
  await using camera = await startCamera({ fps: 10 })
  await using janus = await startJanus()
  const controller = await startHeadless({ site: { nodes: [janus.asNode()] } })
  onTestFinished(async () => {
    await controller.remove()
  })
  const { room_id: roomId } = await controller.rpc('rooms.create', { topic: 'yard' })
  const allow = async (...camera_networks: string[]) =>
    void (await controller.rpc('settings.set', { media: { camera_networks } }))
  const create = (userId: string, userAddress: string) =>
    controller.result('devices.create', { roomId, userId, userName: userId, userAddress, join: 'required' })
  const refused = async (userId: string, userAddress: string): Promise<string> => {
    const result = await create(userId, userAddress)
    return result.ok ? 'joined' : result.error.message
  }
  const device = async () => (await controller.rpc('devices.list', {}))[0]

  await allow('127.0.0.1/32')
  expect(await refused('inside', 'rtsp://127.0.0.2:9/')).toContain('may not be at this address')
  expect(await refused('own', `rtsp://localhost:${new URL(controller.ready.media).port}/`)).toContain(
    'a port of this site',
  )
  expect(await refused('safe', 'rtsps://127.0.0.1:9/')).toContain('rtsp:// only')
  expect(await create('cam', camera.url('/small'))).toMatchObject({ ok: true })
  await allow('10.0.0.0/8')
  await expect.poll(async () => (await device())?.last_error?.kind, { timeout: 10_000 }).toBe('forbidden')
  await expect.poll(() => publishers(janus, roomId)).toEqual([])
  expect(await mountpoints(janus)).toBe(0)
  await allow()
  await expect.poll(async () => (await device())?.state, { timeout: 60_000 }).toBe('joined')

  // A node of this machine can pull it: the empty room moves there, together with its other camera.
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-certificate-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await using encrypted = await startCamera({ fps: 10, tls: await cameraCertificate(folder) })
  await controller.rpc('settings.set', { media: { trust_any_certificate: true } })
  await controller.rpc('nodes.add', { name: 'here', kind: 'embedded' })
  await expect
    .poll(async () => (await create('safe', encrypted.url('/small'))).ok, { timeout: 30_000, interval: 500 })
    .toBe(true)
  const { room } = await controller.rpc('rooms.get', { room_id: roomId })
  expect(room.node).toBe('here')
  const states = async () => (await controller.rpc('devices.list', {})).map(({ state }) => state)
  await expect.poll(states, { timeout: 30_000 }).toEqual(['joined', 'joined'])
}, 180_000)

/** Lists the publishers in a room, if it exists. */
async function publishers(janus: JanusServer, roomId: string): Promise<string[]> {
  try {
    const room = (await janus.room(roomId))?.room
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
