import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { startLossyProxy } from '../support/media/lossy-proxy.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { publish, watch } from '../support/media/streams.ts'

let browser: Browser
let node: TestMediaNode
beforeAll(async () => {
  ;[browser, node] = await Promise.all([startBrowser(), TestMediaNode.start()])
})
afterAll(async () => {
  await Promise.all([browser.close(), node.stop()])
})

// Runs together with the next one: it waits most of the time.
test.concurrent('users whose tab was closed are detected by their silence', async () => {
  await node.openRoom('closed')
  const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
  await publish(ann, node, 'closed', node.token('closed', { userId: 'ann' }))
  await publish(bob, node, 'closed', node.token('closed', { userId: 'bob' }))
  await watch(ann, node, 'closed', 'bob', node.token('closed', { userId: 'viewer' }))
  await ann.decodes('bob')
  // ann, who publishes, and the viewer, who only watches bob.
  await ann.page.close()
  await Promise.all(
    ['ann', 'viewer'].map(async (userId) => {
      await node.event((event) => event.type === 'left' && event.roomId === 'closed' && event.userId === userId)
    }),
  )
  expect(await node.userIds('closed')).toEqual(['bob'])
  await bob.page.close()
})

test.concurrent('with 5 % of the packets lost in both directions, the pictures of users and cameras continue', async () => {
  await using camera = await startCamera()
  await using lossy = await TestMediaNode.start({ settings: { advertised: ['127.0.0.2'] } })
  await using proxy = await startLossyProxy(lossy.udpPort, 0.05)
  await lossy.openRoom('loss')
  await lossy.addDevice('loss', 'cam', camera.url('/cam'))
  const [ann, bob] = await Promise.all([MediaPage.open(browser, lossy.url), MediaPage.open(browser, lossy.url)])
  const how = { addresses: 'never' } as const
  const token = lossy.token('loss', { userId: 'bob' })
  await publish(ann, lossy, 'loss', lossy.token('loss', { userId: 'ann' }), { ...how, codec: 'VP8' })
  await watch(bob, lossy, 'loss', 'ann', token, how)
  await watch(bob, lossy, 'loss', 'cam', token, how)
  await Promise.all([bob.decodes('ann', 20), bob.decodes('cam', 10)])
  const frames = async (): Promise<number[]> => {
    const [own, seen, cam] = await Promise.all([
      ann.call('stats', 'own'),
      bob.call('stats', 'ann'),
      bob.call('stats', 'cam'),
    ])
    const reading = await lossy.stream('loss', 'cam')
    return [own.videoSent?.framesDecoded, reading?.frames, seen.video?.framesDecoded, cam.video?.framesDecoded].map(
      (count) => count ?? 0,
    )
  }
  const before = await frames()
  await bob.decodes('ann', 80)
  const [sent = 0, fromCamera = 0, seen = 0, seenOfCamera = 0] = (await frames()).map(
    (count, index) => count - (before[index] ?? 0),
  )
  expect(proxy.toClient.counts.dropped + proxy.toTarget.counts.dropped).toBeGreaterThan(50)
  expect((await bob.call('stats', 'ann')).video?.nacks).toBeGreaterThan(0)
  // Nearly every picture sent in that time was displayed.
  expect(seen).toBeGreaterThan(0.8 * sent)
  expect(seenOfCamera).toBeGreaterThan(0.8 * fromCamera)
  await Promise.all([ann.page.close(), bob.page.close()])
})
