import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startCamera } from '../../support/camera/camera.ts'
import { MediaPage, type Offering, startBrowser } from '../../support/media/browser.ts'
import { startLossyProxy } from '../../support/media/lossy-proxy.ts'
import { TestMediaNode } from '../../support/media/media-node.ts'
import { SignalClient } from '../../support/media/signal-client.ts'

// Browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 45_000, hookTimeout: 45_000 })

let browser: Browser
let node: TestMediaNode
beforeAll(async () => {
  ;[browser, node] = await Promise.all([startBrowser(), TestMediaNode.start()])
})
afterAll(async () => {
  await Promise.all([browser.close(), node.stop()])
})

async function publish(page: MediaPage, roomId: string, token: string, how: Offering = {}, at = node): Promise<void> {
  const answer = await page.call('publish', 'own', `${at.url}/whip/${roomId}`, token, how)
  expect(answer.problem).toBeNull()
}

async function watch(
  page: MediaPage,
  roomId: string,
  streamId: string,
  token: string,
  how: Offering = {},
  at = node,
): Promise<void> {
  const answer = await page.call('watch', streamId, `${at.url}/whep/${roomId}/${streamId}`, token, how)
  expect(answer.problem).toBeNull()
}

describe('people in a room', () => {
  test.each([
    ['VP8', 'offer'],
    ['H264', 'later'],
  ] as const)('see and hear each other in %s, also who comes late (addresses: %s)', async (codec, addresses) => {
    await node.openRoom(codec)
    const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, codec, node.token(codec, { userId: 'ann' }), { codec, addresses })
    await ann.until('own', ({ videoSent }) => (videoSent?.framesDecoded ?? 0) > 20)
    if (addresses === 'later') expect((await ann.call('stats', 'own')).patched).toBe(204)
    const keyFrames = (await ann.call('stats', 'own')).videoSent?.keyFrames ?? 0
    await watch(bob, codec, 'ann', node.token(codec, { userId: 'bob' }))
    await bob.decodes('ann', 20)
    await bob.until('ann', ({ audio }) => (audio?.energy ?? 0) > 0)
    // The late one was given a key frame of its own; once it sees, no more are asked for.
    const asked = (await ann.call('stats', 'own')).videoSent?.keyFrames ?? 0
    expect(asked).toBeGreaterThan(keyFrames)
    await bob.decodes('ann', 20)
    expect((await ann.call('stats', 'own')).videoSent?.keyFrames).toBe(asked)
    // Chromium's fake camera is green.
    const [[red, green, blue] = []] = await bob.colours('ann', [0.95, 0.5])
    expect(green).toBeGreaterThan(100)
    expect(Math.max(red ?? 255, blue ?? 255)).toBeLessThan(80)
    expect(await node.userIds(codec)).toEqual(['ann', 'bob'])
    expect(await node.stream(codec, 'ann')).toMatchObject({ video_codec: codec, audio_codec: 'OPUS', viewers: 1 })
    const { connections } = await node.request('stats', { roomId: codec })
    expect(connections.map(({ user_id, peers }) => [user_id, peers[0]?.purpose, peers[0]?.state])).toEqual([
      ['ann', 'publish', 'connected'],
      ['bob', 'view', 'connected'],
    ])
    await Promise.all([ann.page.close(), bob.page.close()])
  })

  test('may send as much as the node lets them, within seconds', async () => {
    await node.openRoom('rate')
    const ann = await MediaPage.open(browser, node.url)
    await publish(ann, 'rate', node.token('rate'), { codec: 'VP8' })
    await ann.until('own', ({ availableBitrate }) => (availableBitrate ?? 0) > 2_000_000)
    await ann.page.close()
  })

  test('are muted and unmuted for everybody', async () => {
    await node.openRoom('mute', { hostPassword: 'secret' })
    const host = await SignalClient.join(node.url, 'mute', { host_password: 'secret', user_id: 'host' })
    const person = await SignalClient.join(node.url, 'mute', { token: node.token('mute', { userId: 'ann' }) })
    const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, 'mute', person.joined.session)
    await watch(bob, 'mute', 'ann', host.joined.session)
    await bob.decodes('ann', 10)
    await bob.until('ann', ({ audio }) => (audio?.packets ?? 0) > 10)
    for (const kind of ['audio', 'video'] as const) {
      host.send({ type: 'mute', user_id: 'ann', kind })
      await person.next((message) => message.type === 'muted' && message.kind === kind)
    }
    // What was under way arrives; then nothing more, while the one who sends goes on.
    let before = await bob.call('stats', 'ann')
    let quiet = 0
    await bob.until('ann', (stats) => {
      const same = stats.video?.packets === before.video?.packets && stats.audio?.packets === before.audio?.packets
      quiet = same ? quiet + 1 : 0
      before = stats
      return quiet > 10
    })
    const sent = (await ann.call('stats', 'own')).audioSent?.packets ?? 0
    await ann.until('own', ({ audioSent }) => (audioSent?.packets ?? 0) > sent + 20)
    const after = await bob.call('stats', 'ann')
    expect([after.video?.packets, after.audio?.packets]).toEqual([before.video?.packets, before.audio?.packets])
    person.send({ type: 'state', audio: true, video: true })
    await bob.decodes('ann', 10)
    await bob.until('ann', ({ audio }) => (audio?.packets ?? 0) > (after.audio?.packets ?? 0) + 10)
    host.drop()
    person.drop()
    await Promise.all([ann.page.close(), bob.page.close()])
  })

  test('who are taken out are out: sound, picture, signalling and whoever watches them', async () => {
    await node.openRoom('kick')
    const token = node.token('kick', { userId: 'ann' })
    const person = await SignalClient.join(node.url, 'kick', { token })
    const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, 'kick', person.joined.session)
    const other = await SignalClient.join(node.url, 'kick', { token: node.token('kick', { userId: 'bob' }) })
    await watch(bob, 'kick', 'ann', other.joined.session)
    await bob.decodes('ann')
    expect(await node.request('kick', { roomId: 'kick', userId: 'ann' })).toEqual({ kicked: true })
    expect(await person.next('removed')).toEqual({ type: 'removed', reason: 'kicked' })
    await person.closed
    await other.next('stream_removed')
    await other.next('person_left')
    expect(await node.userIds('kick')).toEqual(['bob'])
    expect(await ann.call('isOver', 'own')).toBe(true)
    expect(await bob.call('isOver', 'ann')).toBe(true)
    const again = await ann.call('publish', 'own', `${node.url}/whip/kick`, token, {})
    expect(again.problem).toMatchObject({ status: 403, reason: 'removed' })
    await expect(SignalClient.join(node.url, 'kick', { token })).rejects.toThrow('refused: 403 removed')
    await expect(SignalClient.resume(node.url, person.joined.session)).rejects.toThrow('noSession')
    other.drop()
    await Promise.all([ann.page.close(), bob.page.close()])
  })
})

// Together with the next one: it waits most of the time.
test.concurrent('people whose tab was closed are noticed by what they no longer send', async () => {
  await node.openRoom('closed')
  const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
  await publish(ann, 'closed', node.token('closed', { userId: 'ann' }))
  await publish(bob, 'closed', node.token('closed', { userId: 'bob' }))
  await watch(ann, 'closed', 'bob', node.token('closed', { userId: 'viewer' }))
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

test.concurrent('5 % of the packets lost in both directions: the pictures of people and cameras go on', async () => {
  await using camera = await startCamera()
  await using lossy = await TestMediaNode.start({ settings: { advertised: ['127.0.0.2'] } })
  await using proxy = await startLossyProxy(lossy.udpPort, 0.05)
  await lossy.openRoom('loss')
  await lossy.addDevice('loss', 'cam', camera.url('/cam'))
  const [ann, bob] = await Promise.all([MediaPage.open(browser, lossy.url), MediaPage.open(browser, lossy.url)])
  const how = { addresses: 'never' } as const
  const token = lossy.token('loss', { userId: 'bob' })
  await publish(ann, 'loss', lossy.token('loss', { userId: 'ann' }), { ...how, codec: 'VP8' }, lossy)
  await watch(bob, 'loss', 'ann', token, how, lossy)
  await watch(bob, 'loss', 'cam', token, how, lossy)
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
  // Nearly every picture that was sent in that time was shown.
  expect(seen).toBeGreaterThan(0.8 * sent)
  expect(seenOfCamera).toBeGreaterThan(0.8 * fromCamera)
  await Promise.all([ann.page.close(), bob.page.close()])
})
