import { describe, expect, onTestFinished, test as base } from 'vitest'
import { startTestCamera } from '../../../support/camera/test-camera.ts'
import { HostileCamera, type Script } from '../../../support/camera/hostile-camera.ts'
import { CameraSite, nodeDevice } from '../../../support/sites/camera-site.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { disposed } from '../../../support/fixtures.ts'
const soon = (): AbortSignal => AbortSignal.timeout(20_000)
let rooms = 0
const newRoom = async (site: CameraSite): Promise<string> => {
  const room = `trouble-${++rooms}`
  await site.openRoom(room)
  return room
}
const hostile = async (script: Script): Promise<HostileCamera> => {
  const started = await HostileCamera.start(script, 'udp')
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

const test = base
  .extend('janus', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startJanus()))
  .extend('camera', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startTestCamera()))

describe('misbehaving cameras', () => {
  test('a camera that closes, stays silent or refuses when Janus calls is refused with the reason, delays no other, and leaves nothing behind', async ({
    janus,
    camera,
  }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    const ways: [Script, kind: string, reason: string][] = [
      [{ SETUP: () => {} }, 'timeout', 'did not answer'],
      [{ PLAY: () => {} }, 'timeout', 'did not answer'],
      [{ SETUP: (caller) => caller.reset() }, 'nodeFailed', 'answered us'],
      [{ PLAY: (caller) => void caller.socket.end() }, 'nodeFailed', 'answered us'],
      [{ SETUP: (caller, request) => caller.answer(request, { status: 461 }) }, 'nodeFailed', 'by UDP only'],
      [{ DESCRIBE: (caller) => caller.reset() }, 'closed', ''],
    ]
    const cameras = await Promise.all(ways.map(([script]) => hostile(script)))
    const refused = cameras.map(async ({ url }, at) => {
      const [, kind, reason = ''] = ways[at] ?? []
      const add = site.cameras.add(room, nodeDevice(`bad-${at}`, url), soon())
      await expect(add).rejects.toMatchObject({ kind, message: expect.stringContaining(reason) })
    })
    const began = performance.now()
    await site.cameras.add(room, nodeDevice('good', camera.smallUrl), soon())
    expect(performance.now() - began).toBeLessThan(1_500)
    await Promise.all(refused)
    expect(await site.publishers(room)).toEqual(['good'])
    expect([(await site.mountpoints()).length, await site.handles(), site.cameras.pulls]).toEqual([1, 2, 1])
  })

  test('a camera that answers well and sends nothing, garbage or a flood affects nobody, and can be removed', async ({
    janus,
    camera,
  }) => {
    const site = await CameraSite.open(janus)
    const room = await newRoom(site)
    await site.cameras.add(room, nodeDevice('good', camera.smallUrl), soon())
    const playing = (act: (caller: Parameters<NonNullable<Script['PLAY']>>[0]) => void): Script => ({
      PLAY: (caller, request) => {
        caller.answer(request)
        act(caller)
      },
    })
    const cameras = await Promise.all([
      hostile(playing(() => {})),
      hostile(playing((caller) => caller.every(5, () => caller.rtp(Buffer.from([0x80]))))),
      hostile(playing((caller) => caller.every(5, () => caller.rtp(Buffer.alloc(1_400, 0xff))))),
      hostile(playing((caller) => caller.flood(Buffer.alloc(64 * 1024, 0x24)))),
      hostile(playing((caller) => caller.every(1, () => Array.from({ length: 20 }, () => caller.rtp())))),
    ])
    const enough = AbortSignal.timeout(1_500)
    const adds = cameras.map(({ url }, at) => site.cameras.add(room, nodeDevice(`bad-${at}`, url), enough))
    await Promise.allSettled(adds)
    expect(await site.publishers(room)).toContain('good')
    await Promise.all(cameras.map((_, at) => site.cameras.remove(room, `bad-${at}`, soon())))
    await expect.poll(() => site.publishers(room)).toEqual(['good'])
    await expect.poll(async () => [(await site.mountpoints()).length, await site.handles()]).toEqual([1, 2])
    expect(site.told.filter(({ type }) => type === 'deviceLost')).toEqual([])
  })

  test('a password changed while the camera is in use is reported when it reconnects', async ({ janus }) => {
    const site = await CameraSite.open(janus, { stallMs: 1_200 })
    const room = await newRoom(site)
    const before = await startTestCamera({ auth: 'digest', password: 'before' })
    onTestFinished(() => before.close())
    const device = nodeDevice('cam', before.smallUrl, { name: 'admin', password: 'before' })
    await site.cameras.add(room, device, soon())
    const lost = site.next('deviceLost')
    before.close()
    const after = await startTestCamera({ auth: 'digest', password: 'after', port: before.port })
    onTestFinished(() => after.close())
    expect(await lost).toMatchObject({ kind: 'stalled' })
    await expect(site.cameras.add(room, device, soon())).rejects.toMatchObject({ kind: 'auth' })
    await site.cameras.add(room, { ...device, login: { name: 'admin', password: 'after' } }, soon())
    expect([await site.publishers(room), (await site.mountpoints()).length]).toEqual([['cam'], 1])
  })

  test('of two concurrent rooms for a camera one fails, and the other gets it', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus)
    const [one, other] = [await newRoom(site), await newRoom(site)]
    for (const milliseconds of [0, 10, 40]) {
      const giveUp = AbortSignal.timeout(milliseconds)
      const given = site.cameras.add(one, nodeDevice('a', camera.smallUrl), giveUp).catch(() => 'given up')
      await site.cameras.add(other, nodeDevice('b', camera.smallUrl), soon())
      await given
      await site.cameras.remove(one, 'a', soon())
      expect([await site.publishers(one), await site.publishers(other)]).toEqual([[], ['b']])
      await site.cameras.remove(other, 'b', soon())
      await expect.poll(async () => [await site.mountpoints(), await site.handles()]).toEqual([[], 0])
    }
  })

  test('a node that dies while a camera joins reports it at once, and gets the camera when it returns', async ({
    camera,
  }) => {
    const mortal = await startJanus()
    onTestFinished(() => mortal[Symbol.asyncDispose]())
    const site = await CameraSite.open(mortal)
    const room = await newRoom(site)
    const asked = Promise.withResolvers<void>()
    const slow = await hostile({ SETUP: () => asked.resolve() })
    const adds = [
      site.cameras.add(room, nodeDevice('slow', slow.url), soon()),
      asked.promise.then(() => site.cameras.add(room, nodeDevice('cam', camera.smallUrl), soon())),
    ]
    await asked.promise
    const killed = mortal.restart('SIGKILL')
    for (const add of adds) add.catch(() => {})
    const [first] = await Promise.allSettled(adds)
    expect(first).toMatchObject({ status: 'rejected', reason: { name: 'NodeConnectionError' } })
    await killed
    await site.openRoom(room)
    await site.cameras.add(room, nodeDevice('cam', camera.smallUrl), soon())
    expect(await site.publishers(room)).toEqual(['cam'])
    await expect.poll(async () => (await site.mountpoints()).length).toBe(1)
  })
})

describe('allowed networks of cameras', () => {
  test('are set by the site, and Janus calls the very address that was checked, whatever the name resolves to later', async ({
    janus,
    camera,
  }) => {
    // Only our own probe resolves the name: Janus joins by the address.
    const site = await CameraSite.open(janus, { networks: ['127.0.0.1/32'], names: { 'yard.test': '127.0.0.1' } })
    const room = await newRoom(site)
    const byName = camera.smallUrl.replace('127.0.0.1', 'yard.test')
    await site.cameras.add(room, nodeDevice('cam', byName), soon())
    expect(await site.publishers(room)).toEqual(['cam'])
    const forbidden = nodeDevice('other', 'rtsp://127.0.0.2:554/cam')
    await expect(site.cameras.add(room, forbidden, soon())).rejects.toMatchObject({ kind: 'forbidden' })
  })

  test('prevent all camera calls of a limited site without a probe', async ({ janus, camera }) => {
    const site = await CameraSite.open(janus, { networks: ['127.0.0.1/32'], isProbed: false })
    const room = await newRoom(site)
    const add = site.cameras.add(room, nodeDevice('cam', camera.smallUrl), soon())
    await expect(add).rejects.toMatchObject({
      kind: 'nodeFailed',
      message: expect.stringContaining('cannot be looked at'),
    })
    expect(await site.mountpoints()).toEqual([])
  })

  test('remove a camera whose network is no longer allowed, and keep others', async ({ janus, camera }) => {
    const networks = ['127.0.0.0/30']
    const site = await CameraSite.open(janus, { networks })
    const room = await newRoom(site)
    const outside = await startTestCamera({ network: true })
    onTestFinished(() => outside.close())
    await site.cameras.add(room, nodeDevice('stays', camera.smallUrl), soon())
    await site.cameras.add(room, nodeDevice('goes', outside.smallUrl.replace('127.0.0.1', '127.0.0.2')), soon())
    networks[0] = '127.0.0.1/32'
    const lost = site.next('deviceLost')
    await site.cameras.placesChanged()
    expect(await lost).toMatchObject({ userId: 'goes', kind: 'forbidden' })
    await expect.poll(() => site.publishers(room)).toEqual(['stays'])
    await expect.poll(async () => (await site.mountpoints()).length).toBe(1)
  })
})

test('a camera at rtsps:// is refused at once, with the reason', async ({ janus }) => {
  const site = await CameraSite.open(janus)
  const room = await newRoom(site)
  const add = site.cameras.add(room, nodeDevice('cam', 'rtsps://127.0.0.1:9/cam'), soon())
  await expect(add).rejects.toMatchObject({ name: 'DeviceJoinError', kind: 'encrypted' })
  expect(await site.mountpoints()).toEqual([])
})
