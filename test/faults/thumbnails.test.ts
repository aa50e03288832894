import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ConsolePages } from '../e2e/console-pages.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'

describe('thumbnails of cameras that need transcoding', () => {
  let site: ConsoleUnderTest
  let camera: Camera
  beforeAll(async () => {
    ;[site, camera] = await Promise.all([
      openConsole('headless'),
      startCamera({ pattern: 'smpte', width: 640, height: 360, fps: 10, gop: 20 }),
    ])
    await site.call('overview.dismiss_welcome', {})
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await camera.kill()
  })

  test('are in the lists of devices and rooms', async () => {
    const { call, page } = site
    const pages = new ConsolePages(page)
    for (const [mount, userName] of [
      ['h265', 'Gate'],
      ['jpeg', 'Porch'],
    ] as const) {
      const { room_id: roomId } = await call('rooms.create', { topic: `Room of ${userName}` })
      await call('devices.create', { roomId, userId: mount, userName, userAddress: camera.url(`/${mount}`) })
    }
    await vi.waitFor(
      async () => {
        const away = (await call('devices.list')).filter(({ state }) => state !== 'joined')
        if (away.length > 0) throw new Error(`not joined: ${JSON.stringify(away)}`)
      },
      { timeout: 40_000, interval: 200 },
    )
    await page.reload()
    for (const list of ['Devices', 'Rooms'] as const) {
      await pages.go(list)
      for (const name of ['Gate', 'Porch']) {
        const picture = page.getByRole('img', { name: new RegExp(`^Picture of ${name}, `) })
        await picture.waitFor({ timeout: 60_000 })
        // Size of the decoded picture.
        expect(
          await page.evaluate<number>(`document.querySelector('img[alt^="Picture of ${name}"]').naturalWidth`),
        ).toBe(320)
      }
    }
    expect((await call('media.transcoding')).map(({ pictures }) => pictures.used)).toEqual([0])
    expect(site.problems).toEqual([])
  })
})
