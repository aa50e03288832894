import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test as base } from 'vitest'
import { PictureFolder } from '../../../server/devices/pictures/picture-folder.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import { disposed } from '../../support/fixtures.ts'

const frame = Buffer.alloc(400_000, 1)
const size = { width: 640, height: 360 }

const test = base
  .extend('camera', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startTestCamera()))
  .extend('site', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await MediaSite.start()))

describe('Kept pictures of a camera', () => {
  test('are taken at the request of the operator, outlive the trash, and are deleted with the camera', async ({
    site,
    camera,
  }) => {
    const room = await site.api.createRoom()
    await site.rpc('devices.create', {
      roomId: room,
      userId: 'gate',
      userName: 'Gate',
      userAddress: camera.url,
    })
    const kept = async (): Promise<{ at: number; bytes: number; width: number }[]> =>
      (await site.rpc('devices.pictures', { userId: 'gate' })).items
    expect(await kept()).toEqual([])
    expect(await site.rpc('devices.picture', { userId: 'gate' })).toEqual({ picture: null })

    await site.rpc('settings.set', { pictures: { every_minutes: 1 } })
    await expect.poll(kept, { timeout: 25_000 }).toHaveLength(1)
    const [{ at, bytes, width } = { at: 0, bytes: 0, width: 0 }] = await kept()
    expect(width).toBe(640)
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000)
    const { picture } = await site.rpc('devices.picture', { userId: 'gate', at })
    expect(Buffer.from(picture?.frame ?? '', 'base64').subarray(0, 4)).toEqual(Buffer.from([0, 0, 0, 1]))
    const folder = join(site.folder, 'pictures', Buffer.from('gate').toString('base64url'))
    const file = await stat(join(folder, `${at}-640x360-${bytes}.h264`))
    expect([file.mode & 0o777, file.size]).toEqual([0o600, bytes])

    const { undo } = await site.rpc('devices.remove', { userIds: ['gate'] })
    await expect(kept()).rejects.toThrow('notFound')
    await site.rpc('devices.restore', { undo })
    expect(await kept()).toMatchObject([{ at }])

    await site.rpc('devices.remove', { userIds: ['gate'] })
    await site.rpc('trash.empty', {})
    await expect.poll(() => existsSync(folder)).toBe(false)
  })

  test('stay within the limits: the oldest is deleted first, per camera and in total', async () => {
    const data = await temporaryFolder()
    const bounds = { count: 3, megabytes: 100, days: 7 }
    const folder = new PictureFolder(data)
    const now = Date.now()
    for (const minute of [5, 4, 3, 2])
      expect(await folder.add('a', frame, { ...size, at: now - minute * 60_000 }, bounds)).toBe(true)
    expect(folder.of('a').map(({ at }) => (now - at) / 60_000)).toEqual([2, 3, 4])
    await folder.add('b/../c', frame, { ...size, at: now - 60_000 }, bounds)
    expect(await folder.add('b/../c', frame, { ...size, at: now - 60_000 }, bounds)).toBe(false)

    // A start finds them by their names, without those of cameras that are gone.
    const next = new PictureFolder(data)
    await next.open((userId) => userId !== 'a')
    expect([next.of('a').length, next.of('b/../c').length, next.bytes]).toEqual([0, 1, frame.length])
    await next.add('d', frame, { ...size, at: now }, { ...bounds, megabytes: 0.5 })
    expect([next.of('b/../c').length, next.of('d').length]).toEqual([0, 1])
    await next.clear(bounds, now + 8 * 24 * 60 * 60_000)
    expect(next.bytes).toBe(0)
    expect(await next.read('d', now)).toBeUndefined()
  })
})
