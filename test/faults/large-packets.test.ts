import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { watch } from '../support/media/streams.ts'

let browser: Browser
let node: TestMediaNode
beforeAll(async () => {
  ;[browser, node] = await Promise.all([startBrowser(), TestMediaNode.start()])
})
afterAll(async () => {
  await Promise.all([browser.close(), node.stop()])
})

test.each([1_460, 60_000])(
  'a camera that sends packets of up to %i bytes over TCP is seen, in packets that fit the network',
  async (mtu) => {
    await using large = await startCamera({ width: 1_280, height: 720, kbps: 4_000, gop: 15, pattern: 'snow', mtu })
    await node.openRoom('large')
    await node.addDevice('large', 'cam', large.url('/cam'))
    const page = await MediaPage.open(browser, node.url)
    await watch(page, node, 'large', 'cam', node.token('large', { role: 'observer' }))
    const { video } = await page.decodes('cam', 20)
    expect(video?.height).toBe(720)
    expect((video?.bytes ?? 0) / (video?.packets ?? 1)).toBeLessThan(1_400)
    await page.page.close()
    await node.request('close_room', { roomId: 'large' })
  },
)
