import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Frame, Page } from 'playwright-core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openWindows } from '../support/chromium.ts'
import { folderHolds } from '../support/recordings/written-media.ts'
import { type FilmedSite, filmedSite, shortFilm } from '../support/sites/filmed-site.ts'
import { built } from '../support/built.ts'
import { shared } from '../support/fixtures.ts'

/**
 * Pages about recordings and live streams in Chromium, on another origin: a demo page written as those of the original platform are, and the page that plays a live stream.
 */

const playerPage = built('player')
vi.setConfig({ testTimeout: 180_000 })

const browser = shared(() => openWindows(['--autoplay-policy=no-user-gesture-required']))
const origin = shared(
  () => serveDemo(),
  (origin) => origin.close(),
)
const home = shared(() => `http://127.0.0.1:${(origin().address() as AddressInfo).port}`)

/** Serves a foreign site with the demo page. */
async function serveDemo(): Promise<Server> {
  const read = (name: string) => readFile(join(import.meta.dirname, '../support', name), 'utf8')
  const [page, code] = await Promise.all([read('older-record-page.html'), read('older-page.js')])
  const server = createServer((request, response) => {
    const isCode = request.url === '/sdk.js'
    response.setHeader('Content-Type', isCode ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isCode ? code : page)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function openDemo(site: FilmedSite): Promise<Page> {
  const page = await browser().newPage()
  onTestFinished(() => page.close())
  const { media: base, token } = site.client
  const query = new URLSearchParams({ base, token, room: site.roomId, user: 'door' })
  await page.goto(`${home()}/?${query.toString()}`)
  return page
}

interface Played {
  time: number
  width: number
  notice: string
}

const playedCode = `({
  time: document.querySelector('video').currentTime,
  width: document.querySelector('video').videoWidth,
  notice: document.getElementById('notice').textContent,
})`

/** The video in the player of the demo page, as it is now. */
async function played(page: Page): Promise<Played> {
  const frame = page.frames().find((each: Frame) => each !== page.mainFrame())
  const found = await frame?.evaluate<Played>(playedCode).catch(() => undefined)
  return found ?? { time: 0, width: 0, notice: '' }
}

test('the demo page records a camera, finds the record and shows its file in the player page', async () => {
  const site = await filmedSite({ door: shortFilm }, { playerPage })
  // The page is framed by the demo of another origin.
  site.settings().live.embed_origins = [home()]
  const page = await openDemo(site)
  await page.click('#start-record')
  await page.getByText(/record \d+ began/).waitFor()
  await folderHolds(site.recorder.folder, 2_000)
  await page.click('#find-records')
  await page.getByText('found 1').waitFor()
  await page.click('#stop-record')
  await page.getByText(/record \d+ has \d+ s: http/).waitFor({ timeout: 90_000 })
  await expect.poll(async () => (await played(page)).width, { timeout: 30_000 }).toBe(320)
  const frame = page.frames().at(-1)
  await frame?.evaluate(`document.querySelector('video').play()`)
  await expect.poll(async () => (await played(page)).time, { timeout: 30_000 }).toBeGreaterThan(1)
})

test('the demo page streams a camera live, and the player page shows it', async () => {
  const site = await filmedSite({ door: shortFilm }, { playerPage })
  site.settings().live.embed_origins = [home()]
  const page = await openDemo(site)
  await page.click('#start-live')
  await page.getByText(/live \d+ began/).waitFor()
  await expect.poll(async () => (await played(page)).time, { timeout: 60_000 }).toBeGreaterThan(2)
  await page.click('#stop-live')
  await page.getByText(/live \d+ ended with 2/).waitFor()
  await expect.poll(async () => (await played(page)).notice, { timeout: 30_000 }).toContain('has ended')
})

test.each(['h264', 'vp8'] as const)(
  'somebody with a link watches a camera of %s live, across segments, and reads when it expires',
  async (codec) => {
    const site = await filmedSite({ door: { ...shortFilm, codec } }, { playerPage, segmentMs: 8_000 })
    const link = await site.client.get('/rtc/live/link', { room_id: site.roomId, user_id: 'door', ttl: 3_600 })
    const page = await browser().newPage({ viewport: { width: 960, height: 540 } })
    onTestFinished(() => page.close())
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(String(link.page_url))
    const time = (): Promise<number> => page.evaluate(`document.querySelector('video').currentTime`)
    await expect.poll(() => page.evaluate(`document.body.dataset.firstPicture ?? ''`), { timeout: 60_000 }).not.toBe('')
    const began = await time()
    await expect.poll(time, { timeout: 40_000 }).toBeGreaterThan(began + 10)
    expect(await page.locator('#name').textContent()).toBe('Name of door')
    expect(complaints.filter((text) => !/50[0-9]/.test(text))).toEqual([])
  },
)

test('the player page plays nothing from another site, and says what it cannot play', async () => {
  const site = await filmedSite({ door: shortFilm }, { playerPage })
  const page = await browser().newPage()
  onTestFinished(() => page.close())
  const notice = async (path: string): Promise<string> => {
    await page.goto(site.client.media + path)
    await page.locator('#notice:not(:empty)').waitFor({ timeout: 30_000 })
    return (await page.locator('#notice').textContent()) ?? ''
  }
  expect(await notice(`/admin/record/recordPlayer.html?src=${home()}/a.mp4`)).toContain('of this site')
  expect(await notice('/admin/live/rtmpPlayer.html?src=rtmp://live.example/app/key')).toContain('RTMP')
  expect(await notice('/admin/record/recordPlayer.html?lang=zh&src=/record/1-x.mp4')).toContain('没有录制文件')
  expect(await notice('/admin/record/recordPlayer.html?lang=de')).toContain('enthält keine Aufzeichnung')
  expect(await notice('/live/AAAA')).toContain('has ended, or its link has expired')
})
