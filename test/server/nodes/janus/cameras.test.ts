import { describe, expect, onTestFinished, test as base } from 'vitest'
import { mountpointSecret } from '../../../../server/nodes/janus/cameras/mountpoint-requests.ts'
import { CameraSite, nodeDevice } from '../../../support/sites/camera-site.ts'
import { startTestCamera } from '../../../support/camera/test-camera.ts'
import { JanusViewer } from '../../../support/janus/janus-viewer.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { disposed } from '../../../support/fixtures.ts'
const login = { name: 'admin', password: 'se:cret' }
const soon = (): AbortSignal => AbortSignal.timeout(20_000)
let rooms = 0
const newRoom = async (site: CameraSite): Promise<string> => {
  rooms += 1
  await site.openRoom(`room-${rooms}`)
  return `room-${rooms}`
}

const test = base
  .extend('janus', { scope: 'file' }, async ({}, { onCleanup }) =>
    disposed(onCleanup, await startJanus({ tokenSecret: 'token secret' })),
  )
  .extend('camera', { scope: 'file' }, async ({}, { onCleanup }) =>
    disposed(onCleanup, await startTestCamera({ auth: 'digest', password: login.password })),
  )

describe('a camera in a room', () => {
  test('publishes under its own name, and is removed without a trace', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    expect(await site.publishers(room)).toEqual(['cam'])
    expect(site.told).toMatchObject([{ type: 'joined', roomId: room, user: { userId: 'cam', device: true } }])
    expect(site.cameras.usersOf(room)).toMatchObject([{ userId: 'cam', userName: 'Camera cam', role: 'member' }])
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    expect(site.told).toHaveLength(1)

    await site.cameras.remove(room, 'cam', soon())
    expect(await site.publishers(room)).toEqual([])
    expect(site.told.at(-1)).toEqual({ type: 'left', roomId: room, userId: 'cam' })
    expect(await site.mountpoints()).toEqual([])
    expect(await site.handles()).toBe(0)
    await site.cameras.remove(room, 'cam', soon())
  })

  test('of the lab is pulled with its login, and its pictures reach a viewer', async () => {
    await using janus = await startJanus()
    using lab = await startTestCamera({ name: 'lab', picture: 'card', auth: 'digest' })
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('lab', lab.url, { name: 'admin', password: 'admin' }), soon())
    await using viewer = await JanusViewer.watch(janus, room, 'lab')
    await expect.poll(() => viewer.watched.frames, { timeout: 10_000 }).toBeGreaterThan(20)
    expect(viewer.watched.lost).toBe(0)
  })

  test('in two rooms is pulled once, until it leaves the last', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const [one, other] = [await newRoom(site), await newRoom(site)]
    await Promise.all([
      site.cameras.add(one, nodeDevice('a', camera.smallUrl, login), soon()),
      site.cameras.add(other, nodeDevice('b', camera.smallUrl, login), soon()),
    ])
    expect([await site.publishers(one), await site.publishers(other)]).toEqual([['a'], ['b']])
    expect(await site.mountpoints()).toHaveLength(1)
    expect(site.cameras.pulls).toBe(1)
    await site.cameras.remove(one, 'a', soon())
    expect(await site.mountpoints()).toHaveLength(1)
    expect(await site.publishers(other)).toEqual(['b'])
    await site.cameras.remove(other, 'b', soon())
    expect(await site.mountpoints()).toEqual([])
  })

  test('with sound that Janus does not support still shows its picture', async ({ janus }) => {
    const site = await CameraSite.open(janus, { isProbed: false })
    const room = await newRoom(site)
    await using aac = await startTestCamera({ sound: 'aac' })
    await site.cameras.add(room, nodeDevice('aac', aac.url), soon())
    expect(await site.publishers(room)).toEqual(['aac'])
  })

  test('that is changed rejoins with its new address', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    const [before] = await site.mountpoints()
    await site.cameras.add(room, nodeDevice('cam', camera.url, login), soon())
    expect(await site.publishers(room)).toEqual(['cam'])
    expect(await site.mountpoints()).toEqual([expect.not.stringMatching(before ?? '')])
    expect(site.told.map(({ type }) => type)).toEqual(['joined', 'left', 'joined'])
  })
})

test('joins a node with signed tokens and no other secrets, and leaves nothing behind there', async ({ camera }) => {
  const secrets = { api: '', admin: 'admin secret', adminKey: '' }
  const other = await startJanus({ secrets, tokenSecret: 'token secret' })
  onTestFinished(() => other[Symbol.asyncDispose]())
  const site = await CameraSite.open(other)
  const room = await newRoom(site)
  await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
  expect(await site.mountpoints()).toHaveLength(1)
  // A stream of this site that no record lists, as after a crash.
  const [id = ''] = await site.mountpoints()
  const stray = {
    request: 'create',
    type: 'rtp',
    id: `${id}-stray`,
    media: [{ type: 'video', mid: 'v', port: 0, pt: 96, codec: 'h264' }],
  }
  await other.ask('streaming', { ...stray, secret: mountpointSecret('the key of the rooms', `${id}-stray`) })
  expect(await site.mountpoints()).toHaveLength(2)
  await site.startAgain()
  await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
  await expect.poll(() => site.mountpoints()).toEqual([id])
  expect(await site.publishers(room)).toEqual(['cam'])
})

describe('a camera that cannot join', () => {
  test.for([
    ['a wrong login', { auth: 'digest' }, 'auth'],
    ['a wrong path', { name: 'another' }, 'notFound'],
    ['a codec that Janus does not support', { codec: 'mjpeg' }, 'noUsableTrack'],
  ] as const)('%s is named', async ([, spec, kind], { janus }) => {
    await using camera = await startTestCamera(spec)
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    const add = site.cameras.add(room, nodeDevice('cam', new URL('/camera', camera.url).href, login), soon())
    await expect(add).rejects.toMatchObject({ name: 'DeviceJoinError', kind })
    expect(await site.mountpoints()).toEqual([])
    expect(site.told).toEqual([])
  })

  test('reports a closed address', async ({ janus }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    const add = site.cameras.add(room, nodeDevice('cam', 'rtsp://127.0.0.1:9/cam'), soon())
    await expect(add).rejects.toMatchObject({ name: 'DeviceJoinError', kind: 'refused' })
  })

  test('reports what Janus leaves out, if no probe is available', async ({ janus }) => {
    const site = await CameraSite.open(janus, { isProbed: false })
    const room = await newRoom(site)
    const add = site.cameras.add(room, nodeDevice('cam', 'rtsp://127.0.0.1:9/cam'), soon())
    await expect(add).rejects.toThrow('does not say why')
  })

  test('reports a missing room', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const add = site.cameras.add('no-room', nodeDevice('cam', camera.smallUrl, login), soon())
    await expect(add).rejects.toMatchObject({ kind: 'nodeFailed' })
    expect([await site.mountpoints(), await site.handles()]).toEqual([[], 0])
  })

  test('leaves nothing behind whenever it is aborted, and joins when it is requested again', async ({
    janus,
    camera,
  }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    const device = nodeDevice('cam', camera.smallUrl, login)
    for (const milliseconds of [0, 5, 20, 60, 120]) {
      const controller = new AbortController()
      const add = site.cameras.add(room, device, controller.signal)
      setTimeout(() => controller.abort(new Error('enough')), milliseconds)
      await add.catch(() => site.cameras.remove(room, 'cam', soon()))
      await site.cameras.remove(room, 'cam', soon())
      await expect.poll(() => site.mountpoints()).toEqual([])
      await expect.poll(() => site.handles()).toBe(0)
      expect(await site.publishers(room)).toEqual([])
    }
    await site.cameras.add(room, device, soon())
    expect(await site.publishers(room)).toEqual(['cam'])
  })
})

describe('a camera that leaves on its own', () => {
  test('after a kick by another client has left, and nothing of it remains', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    const left = site.next('left')
    await janus.ask('videoroom', { request: 'kick', room, id: 'cam' })
    expect(await left).toEqual({ type: 'left', roomId: room, userId: 'cam' })
    await expect.poll(() => site.mountpoints()).toEqual([])
    await expect.poll(() => site.handles()).toBe(0)
  })

  test('leaves with a room that is destroyed', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    const left = site.next('left')
    await janus.ask('videoroom', { request: 'destroy', room })
    expect(await left).toMatchObject({ userId: 'cam' })
    await expect.poll(() => site.mountpoints()).toEqual([])
  })

  test('is lost when it dies, and rejoins once it is back', async ({ janus }) => {
    const site = await CameraSite.open(janus, { stallMs: 1_200 })
    const room = await newRoom(site)
    const mortal = await startTestCamera()
    onTestFinished(() => mortal.close())
    const device = nodeDevice('cam', mortal.smallUrl)
    await site.cameras.add(room, device, soon())
    const lost = site.next('deviceLost')
    mortal.close()
    expect(await lost).toMatchObject({ roomId: room, userId: 'cam', kind: 'stalled' })
    await expect.poll(() => site.publishers(room)).toEqual([])
    await expect(site.cameras.add(room, device, soon())).rejects.toMatchObject({ kind: 'refused' })
    const again = await startTestCamera({ port: mortal.port })
    onTestFinished(() => again.close())
    await site.cameras.add(room, device, soon())
    expect(await site.publishers(room)).toEqual(['cam'])
  })

  test('is lost when Janus dies, and joins the next process', async ({ camera }) => {
    const mortal = await startJanus()
    onTestFinished(() => mortal[Symbol.asyncDispose]())
    const site = await CameraSite.open(mortal)
    const room = await newRoom(site)
    const device = nodeDevice('cam', camera.smallUrl, login)
    await site.cameras.add(room, device, soon())
    const lost = site.next('deviceLost')
    await mortal.restart('SIGKILL')
    expect(await lost).toMatchObject({ userId: 'cam', kind: 'nodeFailed' })
    expect(site.told).toContainEqual({ type: 'drifted', kind: 'cameraMissing', subjects: ['cam'] })
    expect(site.cameras.usersOf(room)).toEqual([])
    await site.openRoom(room)
    await site.cameras.add(room, device, soon())
    expect(await site.publishers(room)).toEqual(['cam'])
    expect(await site.mountpoints()).toHaveLength(1)
  })
})

describe('the next controller', () => {
  test.for(['ends', 'hangs'] as const)(
    'finds the cameras of one that %s where they are',
    async (before, { janus, camera }) => {
      const site = await CameraSite.open(janus)
      const room = await newRoom(site)
      const device = nodeDevice('cam', camera.smallUrl, login)
      await site.want('cam', room)
      await site.cameras.add(room, device, soon())
      const first = site.told[0]
      const former = site.cameras
      await expect.poll(() => [...site.store.all('camera_loops').values()][0]?.joined_at).toBeGreaterThan(0)

      await site.startAgain(before)
      if (before === 'hangs') onTestFinished(() => former.close())
      expect(site.cameras.usersOf(room)).toHaveLength(1)
      await site.cameras.add(room, device, soon())
      // The same session: nobody left, and only the first query reports a join.
      expect(site.told).toEqual([first, first])
      expect([await site.publishers(room), await site.handles()]).toEqual([['cam'], 2])

      const left = site.next('left')
      await janus.ask('videoroom', { request: 'kick', room, id: 'cam' })
      expect(await left).toMatchObject({ userId: 'cam' })
    },
  )

  test('removes cameras that are no longer needed, and those half in their room', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.want('kept', room)
    await site.cameras.add(room, nodeDevice('kept', camera.smallUrl, login), soon())
    await site.cameras.add(room, nodeDevice('gone', camera.url, login), soon())
    await site.startAgain()
    expect(await site.next('left')).toMatchObject({ userId: 'gone' })
    expect(site.told).toContainEqual({ type: 'drifted', kind: 'cameraUnknown', subjects: ['gone'] })
    await expect.poll(() => site.publishers(room)).toEqual(['kept'])
    await expect.poll(() => site.mountpoints()).toHaveLength(1)
    expect(site.cameras.usersOf(room)).toHaveLength(1)
  })

  test('rejoins cameras lost meanwhile', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    const device = nodeDevice('cam', camera.smallUrl, login)
    await site.want('cam', room)
    await site.cameras.add(room, device, soon())
    await site.cameras.close()
    await janus.ask('videoroom', { request: 'kick', room, id: 'cam' })
    await site.startAgain('hangs')
    await site.cameras.add(room, device, soon())
    expect(site.told.map(({ type }) => type)).toEqual(['joined', 'drifted', 'deviceLost', 'joined'])
    expect(site.told[1]).toMatchObject({ kind: 'cameraMissing', subjects: ['cam'] })
    expect([await site.publishers(room), await site.handles()]).toEqual([['cam'], 2])
  })

  test("removes the node's cameras when the node is taken out of service", async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl, login), soon())
    await site.takeOutOfService()
    expect([await site.publishers(room), await site.mountpoints(), await site.handles()]).toEqual([[], [], 0])
    expect(site.store.all('camera_loops').size).toBe(0)
  })
})
