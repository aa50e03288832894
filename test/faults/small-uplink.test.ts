import { afterAll, beforeAll, test } from 'vitest'
import type { Windows } from '../support/chromium.ts'
import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { type LossyProxy, startLossyProxy } from '../support/media/lossy-proxy.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { publish } from '../support/media/streams.ts'

let browser: Windows
let node: TestMediaNode
let uplink: LossyProxy
beforeAll(async () => {
  const settings = { advertised: ['127.0.0.1', '127.0.0.2'] }
  ;[browser, node] = await Promise.all([openMediaWindows(), TestMediaNode.start({ settings })])
  uplink = await startLossyProxy(node.udpPort, 0, '127.0.0.2')
})
afterAll(async () => {
  await uplink[Symbol.asyncDispose]()
  await Promise.all([browser.close(), node.stop()])
})

test.each([
  ['estimated by the browser', true],
  ['estimated by the node', false],
])(
  'Users of a room send up to the limit of the node within seconds, and reduce their rate as soon as the uplink is small: %s',
  async (_estimate, transportFeedback) => {
    const room = `rate-${transportFeedback}`
    await node.openRoom(room)
    const ann = await MediaPage.open(browser, node.url)
    const how = {
      codec: 'VP8',
      pictures: 'noise',
      addresses: 'never',
      through: uplink.host,
      transportFeedback,
    } as const
    await publish(ann, node, room, node.token(room), how)
    await ann.until('own', ({ availableBitrate }) => (availableBitrate ?? 0) > 2_000_000)
    uplink.toTarget.kbps = 300
    await ann.until('own', ({ availableBitrate }) => (availableBitrate ?? Infinity) < 500_000, 6_000)
    uplink.toTarget.kbps = Infinity
    await ann.page.close()
  },
)
