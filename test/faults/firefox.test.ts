import { readFile } from 'node:fs/promises'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { Firefox, firefoxMissing, type FirefoxPage, firefoxPath } from '../support/firefox.ts'
import { RoomSite } from '../support/sites/room-site.ts'

vi.setConfig({ testTimeout: 180_000 })

const media = z.object({ frames: z.number(), sound: z.number() })

/** Resolves when the page has received and decoded more of a kind than now. */
async function receivesMore(page: FirefoxPage, kind: 'frames' | 'sound', more = 20): Promise<void> {
  const read = async (): Promise<number> => media.parse(await page.evaluate('receivedMedia()'))[kind]
  const before = await read()
  await expect.poll(read, { timeout: 30_000 }).toBeGreaterThan(before + more)
}

/** Shows whether the picture of a tile moves. Firefox without a window counts no pictures that are painted. */
const moves = (name: string): string =>
  `(({ videoWidth, currentTime } = {}) => videoWidth > 0 && currentTime > 0.5)(document.querySelector('[aria-label=${JSON.stringify(name)}] video') ?? undefined)`

async function siteOfTest(): Promise<RoomSite> {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  return site
}

async function firefoxOfTest(): Promise<Firefox> {
  const firefox = await Firefox.start(firefoxPath ?? '')
  onTestFinished(() => firefox[Symbol.asyncDispose]())
  return firefox
}

async function join(firefox: Firefox, site: RoomSite, room: string, name: string): Promise<FirefoxPage> {
  const page = await firefox.open(await site.link(room, { user_id: name.toLowerCase(), user_name: name }))
  await page.click('button', 'Join')
  return page
}

describe('Firefox', () => {
  beforeEach(({ skip }) => skip(firefoxPath === undefined, firefoxMissing))

  test('an operator signs in with the console key, creates a room and sees it', async () => {
    const { controller } = await siteOfTest()
    const page = await (await firefoxOfTest()).open(controller.ready.console)
    await page.fill('Console key', (await readFile(`${controller.folder}/console.key`, 'utf8')).trim())
    await page.click('button', 'Sign in')
    await page.click('link', 'Rooms')
    await page.click('button', 'New room')
    await page.fill('Topic', 'Night shift')
    await page.click('button', 'Create room')
    await page.until(
      `[...document.querySelectorAll('[role=row]')].some(({ innerText }) => innerText.includes('Night shift'))`,
    )
    expect((await controller.rpc('rooms.list', {})).items.map(({ topic }) => topic)).toContain('Night shift')
  })

  test('two people meet: each sees and hears the other', async () => {
    const site = await siteOfTest()
    const room = await site.room()
    const firefox = await firefoxOfTest()
    const ann = await join(firefox, site, room, 'Ann')
    const bo = await join(firefox, site, room, 'Bo')
    await Promise.all([ann.until(moves('Bo')), bo.until(moves('Ann'))])
    for (const page of [ann, bo]) {
      await receivesMore(page, 'frames')
      await receivesMore(page, 'sound')
    }
  })

  test('a camera with H.264 is seen, in VP8 where Firefox has no OpenH264', async () => {
    const site = await siteOfTest()
    const room = await site.room()
    await site.camera(room, 'gate', 'North gate')
    const ann = await join(await firefoxOfTest(), site, room, 'Ann')
    await ann.until(moves('North gate'))
    await receivesMore(ann, 'frames')
  })

  test('the live page of a camera plays', async () => {
    const site = await siteOfTest()
    const room = await site.room()
    await site.camera(room, 'gate', 'North gate')
    const { controller } = site
    await expect
      .poll(async () => (await controller.rpc('rooms.get', { room_id: room })).users.length, { timeout: 30_000 })
      .toBeGreaterThan(0)
    const { page_url } = await controller.rpc('orders.live_link', { room_id: room, user_id: 'gate' })
    const page = await (await firefoxOfTest()).open(page_url)
    await page.until("document.body.dataset.state === 'living' && document.querySelector('video').currentTime > 2")
    await page.until("document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 10")
  })
})
