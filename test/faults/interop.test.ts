import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { aiortc, type Client, type Codec, pion } from '../support/media/clients/clients.ts'
import { TestMediaNode } from '../support/media/media-node.ts'

// Long timeouts for compilers and encoders on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let node: TestMediaNode
let camera: Camera
let browser: Browser
let page: MediaPage
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-interop-'))
  ;[camera, browser] = await Promise.all([startCamera({ width: 320, height: 180 }), startBrowser()])
  node = await TestMediaNode.start()
  page = await MediaPage.open(browser, node.url)
  // Sources to watch: a camera sends H.264, a browser VP8.
  await node.openRoom('sources', { maxVideo: 9, maxAudio: 9 })
  await node.addDevice('sources', 'H264', camera.url('/cam'))
  const token = node.token('sources', { userId: 'VP8' })
  await page.call('publish', 'VP8', `${node.url}/whip/sources`, token, { codec: 'VP8' })
})
afterAll(async () => {
  await browser.close()
  await node.stop()
  await camera.kill()
  await rm(folder, { recursive: true })
})

/** Expects that a browser decodes the pictures of a client, and that the client receives pictures. */
function speaks(start: () => Client | Promise<Client>): void {
  let client: Client
  beforeAll(async () => {
    client = await start()
  })

  test.each<Codec>(['VP8', 'H264'])('publishes %s', async (codec) => {
    const room = `publish-${codec}`
    await node.openRoom(room)
    const isSeen = async (): Promise<void> => {
      await expect
        .poll(async () => (await node.stream(room, 'them'))?.frames ?? 0, { timeout: 30_000 })
        .toBeGreaterThan(5)
      expect((await node.stream(room, 'them'))?.video_codec).toBe(codec)
      const watcher = node.token(room, { role: 'observer' })
      await page.call('watch', room, `${node.url}/whep/${room}/them`, watcher, {})
      await page.decodes(room, 10)
    }
    const token = node.token(room, { userId: 'them' })
    const [published] = await Promise.all([client('whip', `${node.url}/whip/${room}`, token, codec, 8), isSeen()])
    expect(published).toMatchObject({ status: 201, state: 'connected', goodbye: 200 })
    await node.request('close_room', { roomId: room })
  })

  test.each<Codec>(['VP8', 'H264'])('watches %s', async (codec) => {
    const url = `${node.url}/whep/sources/${codec}`
    const seen = await client('whep', url, node.token('sources', { role: 'observer' }), codec, 5)
    expect(seen).toMatchObject({ status: 201, state: 'connected', goodbye: 200 })
    expect(seen.pictures).toBeGreaterThan(20)
  })
}

describe('aiortc', () => speaks(aiortc))
describe('Pion', () => speaks(async () => await pion(folder)))

describe('whip-whep and Eyevinn’s client, in a browser', () => {
  let tab: Page
  beforeAll(async () => {
    const entry = join(import.meta.dirname, '../support/media/clients/browser-clients.js')
    const lib = { entry, formats: ['iife' as const], name: 'bundle', fileName: () => 'clients.js' }
    await build({ configFile: false, logLevel: 'error', build: { lib, outDir: join(folder, 'clients') } })
    const context = await browser.newContext({ bypassCSP: true })
    tab = await context.newPage()
    await tab.goto(`${node.url}/room/`)
    await tab.addScriptTag({ path: join(folder, 'clients/clients.js') })
  })

  const call = async (name: string, ...values: string[]): Promise<unknown> =>
    await tab.evaluate(
      async ([method, all]) => {
        const { clients } = globalThis as unknown as {
          clients: Record<string, (...some: string[]) => Promise<unknown>>
        }
        return await clients[method]?.(...all)
      },
      [name, values] as const,
    )
  const frames = async (room: string): Promise<number> => (await node.stream(room, 'them'))?.frames ?? 0

  test.each<Codec>(['VP8', 'H264'])('whip-whep publishes and watches %s, and restarts ICE', async (codec) => {
    const room = `browser-${codec}`
    await node.openRoom(room)
    await call('publish', `${node.url}/whip/${room}`, node.token(room, { userId: 'them' }), codec)
    await expect.poll(async () => await frames(room), { timeout: 20_000 }).toBeGreaterThan(5)
    expect((await node.stream(room, 'them'))?.video_codec).toBe(codec)
    await call('watch', `${node.url}/whep/${room}/them`, node.token(room, { role: 'observer' }), codec)
    await expect.poll(async () => await call('decoded'), { timeout: 20_000 }).toBeGreaterThan(10)
    await call('restart')
    const before = await frames(room)
    await expect.poll(async () => await frames(room), { timeout: 20_000 }).toBeGreaterThan(before + 10)
    await call('end')
    await expect.poll(async () => await node.userIds(room)).toEqual([])
  })

  test('Eyevinn’s client publishes', async () => {
    await node.openRoom('eyevinn')
    await call('publishEyevinn', `${node.url}/whip/eyevinn`, node.token('eyevinn', { userId: 'them' }))
    await expect.poll(async () => await frames('eyevinn'), { timeout: 20_000 }).toBeGreaterThan(10)
    await call('endEyevinn')
    await expect.poll(async () => await node.userIds('eyevinn'), { timeout: 20_000 }).toEqual([])
  })
})
