import { expect, test } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'

import { MediaPage, openMediaWindows } from '../../support/media/browser.ts'
import { startLossyProxy } from '../../support/media/lossy-proxy.ts'

import { shared, sharedMediaNode } from '../../support/fixtures.ts'

/** Path to the node: forwards all packets to its machine until a test cuts it. */
const way = '127.0.0.2'

const camera = shared(() => startTestCamera())
const node = sharedMediaNode({ settings: { advertised: [way] } })
const browser = shared(() => openMediaWindows())

/** Reads the port of a fragment. */
function portOf(fragment: string): number {
  return Number(/a=candidate:\S+ 1 UDP \d+ 127\.0\.0\.2 (\d+) typ host/.exec(fragment)?.[1])
}

test('a viewer and a publisher that lost the path to the node restart ICE: the same sessions continue, even twice', async () => {
  await node().openRoom('moved')
  await node().addDevice('moved', 'cam', camera().url)
  const first = await startLossyProxy(node().udpPort, 0, way)
  const page = await MediaPage.open(browser(), node().url)
  const token = node().token('moved', { userId: 'ann' })
  expect((await page.call('watch', 'cam', `${node().url}/whep/moved/cam`, token, { addresses: 'never' })).status).toBe(
    201,
  )
  expect((await page.call('publish', 'own', `${node().url}/whip/moved`, token, { addresses: 'never' })).status).toBe(
    201,
  )
  await page.decodes('cam')
  expect(await node().userIds('moved')).toEqual(['cam', 'ann'])

  await first[Symbol.asyncDispose]()
  const fragments = [await page.call('restart', 'cam'), await page.call('restart', 'own')]
  const [port = 0, other] = fragments.map(portOf)
  expect(port).toBe(other)
  const second = await startLossyProxy(port, 0, way)
  const sent = (await node().stream('moved', 'ann'))?.frames ?? 0
  await page.decodes('cam', 10)
  await expect
    .poll(async () => (await node().stream('moved', 'ann'))?.frames, { timeout: 15_000 })
    .toBeGreaterThan(sent + 10)
  expect(second.toClient.counts.passed).toBeGreaterThan(20)

  // The same path is found again, with new fragments and passwords.
  const again = await page.call('restart', 'cam')
  expect(portOf(again)).toBe(port)
  expect(again).not.toContain(/a=ice-ufrag:.*/.exec(fragments[0] ?? '')?.[0])
  await page.decodes('cam', 20)

  const { connections } = await node().request('stats', { roomId: 'moved' })
  expect(connections.flatMap(({ peers }) => peers.map(({ state }) => state))).toEqual(['connected', 'connected'])
  expect(await page.call('close', 'cam', true)).toBe(200)
  expect(await page.call('close', 'own', true)).toBe(200)
  await second[Symbol.asyncDispose]()
  await page.page.close()
})
