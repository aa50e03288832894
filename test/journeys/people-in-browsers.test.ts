import { describe, expect, test as base, vi } from 'vitest'

import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { publish, watch } from '../support/media/streams.ts'
import { disposed } from '../support/fixtures.ts'

// Long timeouts for browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 45_000, hookTimeout: 45_000 })

const test = base
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await openMediaWindows()))
  .extend('node', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await TestMediaNode.start()))

describe('users of a room', () => {
  test.for([
    ['VP8', 'offer'],
    ['H264', 'later'],
  ] as const)(
    'see and hear each other in %s, also who comes late (addresses: %s)',
    async ([codec, addresses], { node, browser }) => {
      await node.openRoom(codec)
      const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
      await publish(ann, node, codec, node.token(codec, { userId: 'ann' }), { codec, addresses })
      await ann.until('own', ({ videoSent }) => (videoSent?.framesDecoded ?? 0) > 20)
      if (addresses === 'later') expect((await ann.call('stats', 'own')).patched).toBe(204)
      const keyFrames = (await ann.call('stats', 'own')).videoSent?.keyFrames ?? 0
      await watch(bob, node, codec, 'ann', node.token(codec, { userId: 'bob' }))
      await bob.decodes('ann', 20)
      await bob.until('ann', ({ audio }) => (audio?.energy ?? 0) > 0)
      // The late user got a key frame; after its first picture no more are requested.
      const asked = (await ann.call('stats', 'own')).videoSent?.keyFrames ?? 0
      expect(asked).toBeGreaterThan(keyFrames)
      await bob.decodes('ann', 20)
      expect((await ann.call('stats', 'own')).videoSent?.keyFrames).toBe(asked)
      // Chromium's fake camera is green; how dark its H.264 is depends on the version.
      const [[red = 255, green = 0, blue = 255] = []] = await bob.colours('ann', [0.95, 0.5])
      expect(green).toBeGreaterThan(60)
      expect([red, blue].every((other) => other < 80 && other < green)).toBe(true)
      expect(await node.userIds(codec)).toEqual(['ann', 'bob'])
      expect(await node.stream(codec, 'ann')).toMatchObject({ video_codec: codec, audio_codec: 'OPUS', viewers: 1 })
      const { connections } = await node.request('stats', { roomId: codec })
      expect(connections.map(({ user_id, peers }) => [user_id, peers[0]?.purpose, peers[0]?.state])).toEqual([
        ['ann', 'publish', 'connected'],
        ['bob', 'view', 'connected'],
      ])
      await Promise.all([ann.page.close(), bob.page.close()])
    },
  )

  test('are muted and unmuted for everybody', async ({ node, browser }) => {
    await node.openRoom('mute', { hostPassword: 'secret' })
    const host = await SignalClient.join(node.url, 'mute', { host_password: 'secret' })
    const person = await SignalClient.join(node.url, 'mute', { token: node.token('mute', { userId: 'ann' }) })
    const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, node, 'mute', person.joined.session)
    await watch(bob, node, 'mute', 'ann', host.joined.session)
    await bob.decodes('ann', 10)
    await bob.until('ann', ({ audio }) => (audio?.packets ?? 0) > 10)
    for (const kind of ['audio', 'video'] as const) {
      host.send({ type: 'mute', user_id: 'ann', kind })
      await person.next((message) => message.type === 'muted' && message.kind === kind)
    }
    // Packets in flight arrive; then nothing more, while the sender continues.
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

  test('lose sound, picture, signalling and their viewers when they are removed', async ({ node, browser }) => {
    await node.openRoom('kick')
    const token = node.token('kick', { userId: 'ann' })
    const person = await SignalClient.join(node.url, 'kick', { token })
    const [ann, bob] = await Promise.all([MediaPage.open(browser, node.url), MediaPage.open(browser, node.url)])
    await publish(ann, node, 'kick', person.joined.session)
    const other = await SignalClient.join(node.url, 'kick', { token: node.token('kick', { userId: 'bob' }) })
    await watch(bob, node, 'kick', 'ann', other.joined.session)
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
