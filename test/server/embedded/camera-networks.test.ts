import net from 'node:net'
import { once } from 'node:events'
import { describe, expect, test as base } from 'vitest'
import { openCameraPark } from '../../support/camera/camera-park.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { disposed } from '../../support/fixtures.ts'

/** Answers that tell a caller why a camera was not called. */
const forbidden = {
  ret: 426,
  msg: 'Devices may not be at this address: it is outside the networks that the settings allow, or it is a port of this site.',
}

const test = base
  .extend('park', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await openCameraPark()))
  .extend('site', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await MediaSite.start()))
  .extend('room', { scope: 'file' }, async ({ site }) => await site.api.createRoom())

describe('a client with a valid credential', () => {
  test('cannot make the site call its own ports by any name; a camera at another port of this machine joins', async ({
    site,
    room,
    park,
  }) => {
    const names = ['media', 'device', 'node'] as const
    const ports = names.map((name) => Number(new URL(site.controller.listeners.url(name)).port))
    for (const port of ports) {
      for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '127.9.9.9', '[::ffff:127.0.0.1]', '[::1]', '[::]']) {
        expect(await site.join(room, 'self', `rtsp://${host}:${port}/rtc/room/get`)).toEqual(forbidden)
      }
    }
    expect(await site.join(room, 'live', park.live(1))).toMatchObject({ ret: 0 })
    await site.rpc('devices.remove', { userIds: ['live'] })
  })

  test('cannot find out what exists at a forbidden address; the operator’s probe and an import return the same answer', async ({
    site,
    room,
    park,
  }) => {
    const calls: number[] = []
    const inside = net.createServer((socket) => void calls.push(socket.remotePort ?? 0)).listen(0, '127.0.0.2')
    await once(inside, 'listening')
    const { port } = inside.address() as net.AddressInfo
    await site.rpc('settings.set', { media: { camera_networks: ['127.0.0.1/32', '10.0.0.0/8'] } })
    const open = `rtsp://127.0.0.2:${port}/`
    const shut = 'rtsp://127.0.0.2:9/'
    for (const userAddress of [open, shut, 'rtsp://192.0.2.1/']) {
      expect(await site.join(room, 'scan', userAddress)).toEqual(forbidden)
      expect(await site.rpc('devices.probe', { userAddress })).toMatchObject({ ok: false, kind: 'forbidden' })
    }
    expect(await site.join(room, 'allowed', park.live(1))).toMatchObject({ ret: 0 })
    await site.rpc('devices.import', { text: `roomId,userId,userName,userAddress\n${room},listed,Listed,${open}` })
    await site.until(async () => (await site.device('listed')).last_error?.kind === 'forbidden')
    expect(calls).toEqual([])
    inside.close()
    await site.rpc('settings.set', { media: { camera_networks: [] } })
  })

  test('loses its camera at once when its network is no longer allowed, and gets it back when it is', async ({
    site,
    room,
    park,
  }) => {
    expect(await site.join(room, 'live', park.live(1))).toMatchObject({ ret: 0 })
    await site.rpc('settings.set', { media: { camera_networks: ['10.0.0.0/8'] } })
    await site.until(async () => !(await site.users(room)).includes('live'))
    expect((await site.device('live')).last_error?.kind).toBe('forbidden')
    await site.rpc('settings.set', { media: { camera_networks: [] } })
    await site.until(async () => (await site.users(room)).includes('live'))
    await site.rpc('devices.remove', { userIds: ['live'] })
  })

  test('an operator reads which line of the networks is invalid', async ({ site }) => {
    const wrong = site.rpc('settings.set', { media: { camera_networks: ['10.0.0.0/8', '10.0.0.0/33'] } })
    await expect(wrong).rejects.toThrow('camera_networks')
  })
})
