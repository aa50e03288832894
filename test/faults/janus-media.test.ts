import { afterAll, beforeAll, expect, test } from 'vitest'
import { MediaSite } from '../support/sites/media-site.ts'
import type { Windows } from '../support/chromium.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'
import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { SignalClient } from '../support/media/signal-client.ts'

/** WHIP and WHEP of rooms on a Janus server, with a browser. */
let janus: JanusServer
let site: MediaSite
let browser: Windows
beforeAll(async () => {
  janus = await startJanus({ tokenSecret: 'a secret that signs tokens' })
  site = await MediaSite.start({ nodes: [janus.asNode()] })
  // On a busy machine the process may take longer.
  await site.until(() => site.nodeUrl !== '')
  browser = await openMediaWindows()
})
afterAll(async () => {
  await browser.close()
  await site[Symbol.asyncDispose]()
  await janus[Symbol.asyncDispose]()
})

async function enter(room_id: string, user_id: string): Promise<SignalClient> {
  const { url } = await site.rpc('media.join_link', { room_id, user_id })
  return await SignalClient.join(site.nodeUrl, room_id, { token: new URL(url).hash.replace('#token=', '') })
}

const heightOf = async (page: MediaPage, name: string): Promise<number> =>
  (await page.call('stats', name)).video?.height ?? 0

test('each viewer of a picture in three layers gets the one that fits its displayed height', async () => {
  const { room_id: room } = await site.rpc('rooms.create', { topic: 'Sizes' })
  const [ann, bob] = [await enter(room, 'ann'), await enter(room, 'bob')]
  const page = await MediaPage.open(browser, site.nodeUrl)
  const { session } = ann.joined
  expect((await page.call('publish', 'own', `${site.nodeUrl}/whip/${room}`, session, { layered: true })).status).toBe(
    201,
  )
  await bob.next('stream_added')
  const watch = (name: string, height: number) =>
    page.call('watchOffered', name, `${site.nodeUrl}/whep/${room}/ann?height=${height}`, bob.joined.session)
  for (const [height, sent] of [
    [100, 180],
    [300, 360],
    [700, 720],
  ] as const) {
    await watch(`at ${height}`, height)
    await expect.poll(() => heightOf(page, `at ${height}`), { timeout: 20_000 }).toBe(sent)
  }
  // Displayed larger, then smaller.
  await watch('changing', 100)
  await expect.poll(() => heightOf(page, 'changing'), { timeout: 20_000 }).toBe(180)
  for (const [height, sent] of [
    [800, 720],
    [120, 180],
  ] as const) {
    bob.send({ type: 'shown', streams: [{ stream_id: 'ann', height }] })
    await expect.poll(() => heightOf(page, 'changing'), { timeout: 20_000 }).toBe(sent)
  }
  await page.page.close()
}, 120_000)

test('a viewer and a publisher restart ICE: the same sessions continue, even twice', async () => {
  const { room_id: room } = await site.rpc('rooms.create', { topic: 'Another network' })
  const [ann, bob] = [await enter(room, 'ann'), await enter(room, 'bob')]
  const page = await MediaPage.open(browser, site.nodeUrl)
  await page.call('publish', 'own', `${site.nodeUrl}/whip/${room}`, ann.joined.session, { small: true })
  await bob.next('stream_added')
  await page.call('watchOffered', 'ann', `${site.nodeUrl}/whep/${room}/ann`, bob.joined.session)
  await page.decodes('ann')
  const names = new Set<string>()
  for (const name of ['ann', 'own', 'ann', 'own']) {
    const fragment = await page.call('restart', name)
    names.add(/a=ice-ufrag:(\S+)/.exec(fragment)?.[1] ?? '')
    expect(fragment).toContain('a=candidate:')
    // Longer than a connection lasts without answers to its checks.
    await page.decodes('ann', 60)
    expect((await page.call('stats', name)).state).toBe('connected')
  }
  expect(names.size).toBe(4)
  expect(bob.messages.filter(({ type }) => type === 'stream_removed')).toEqual([])
  expect(await page.call('close', 'ann', true)).toBe(200)
  expect(await page.call('close', 'own', true)).toBe(200)
  await page.page.close()
}, 120_000)
