import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { publish, watch } from '../support/media/streams.ts'

// Long timeouts for browsers on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let browser: Browser
let node: TestMediaNode
beforeAll(async () => {
  ;[browser, node] = await Promise.all([startBrowser(), TestMediaNode.start()])
})
afterAll(async () => {
  expect(node.complaints).toEqual([])
  await Promise.all([browser.close(), node.stop()])
})

describe('a publisher of three layers', () => {
  test.each(['VP8', 'H264'] as const)('is seen in %s in the size that each viewer displays', async (codec) => {
    await node.openRoom(codec)
    const bob = await SignalClient.join(node.url, codec, { token: node.token(codec, { userId: 'bob' }) })
    const [ann, page] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, node, codec, node.token(codec, { userId: 'ann' }), { codec, layered: true })
    await watch(page, node, codec, 'ann', bob.joined.session)
    const shows = async (height: number): Promise<void> => {
      const { video } = await page.until('ann', (stats) => stats.video?.height === height)
      await page.decodes('ann', 10)
      // The viewer received one stream without a gap.
      expect(video?.packetsLost).toBe(0)
    }
    await shows(720)
    bob.send({ type: 'shown', streams: [{ stream_id: 'ann', height: 180 }] })
    await shows(180)
    bob.send({ type: 'shown', streams: [{ stream_id: 'ann', height: 400 }] })
    await shows(360)
    // The browser stops the large layer, and then sends it again.
    bob.send({ type: 'shown', streams: [{ stream_id: 'ann', height: 1_080 }] })
    await shows(720)
    await ann.call('activate', 'own', ['l', 'm'])
    await shows(360)
    await ann.call('activate', 'own', ['l', 'm', 'h'])
    await shows(720)
    expect((await page.call('stats', 'ann')).audio?.packetsLost).toBe(0)
    bob.drop()
    await Promise.all([ann.page.close(), page.page.close()])
  })
})
