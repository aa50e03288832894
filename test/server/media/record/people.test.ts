import { expect, test as base, vi } from 'vitest'
import { startTestCamera } from '../../../support/camera/test-camera.ts'

import { MediaPage, openMediaWindows } from '../../../support/media/browser.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { publish } from '../../../support/media/streams.ts'
import { decodeRecorded, readRecorded } from '../../../support/recordings/recorded-file.ts'
import { RecordingNode } from '../../../support/recordings/recording-node.ts'
import { disposed } from '../../../support/fixtures.ts'

// Long timeouts for browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const test = base
  .extend('camera', { scope: 'file' }, async ({}, { onCleanup }) =>
    disposed(onCleanup, await startTestCamera({ sound: 'opus' })),
  )
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await openMediaWindows()))
  .extend('recording', { scope: 'file' }, async ({}, { onCleanup }) =>
    disposed(onCleanup, await RecordingNode.start({ settings: { transcoders: 0 } })),
  )

test('a whole room: people, their screens and cameras, also those who join later; everybody is notified', async ({
  recording,
  browser,
  camera,
}) => {
  const { node } = recording
  await node.openRoom('whole')
  const early = await SignalClient.join(node.url, 'whole', { token: node.token('whole', { userId: 'early' }) })
  expect(early.joined.room.recording).toBeUndefined()
  await recording.order('whole', { everything: true })
  expect(await early.next('recording')).toMatchObject({ on: true })
  const page = await MediaPage.open(browser, node.url)
  await publish(page, node, 'whole', early.joined.session, { small: true, codec: 'H264' })
  const screen = await MediaPage.open(browser, node.url)
  const answer = await screen.call('publish', 'screen', `${node.url}/whip/whole?source=screen`, early.joined.session, {
    small: true,
    codec: 'VP8',
  })
  expect(answer.problem).toBeNull()
  await node.addDevice('whole', 'cam', camera.url)
  await recording.began('whole', 3)
  const late = await SignalClient.join(node.url, 'whole', { token: node.token('whole', { userId: 'late' }) })
  expect(late.joined.room.recording).toBe(true)
  await recording.holds('whole', 1_000)
  const segments = await recording.finished('whole')
  expect(await late.next('recording')).toMatchObject({ on: false })
  const streams = new Set(segments.map(({ userId, source, container }) => `${userId} ${source} ${container}`))
  expect([...streams].sort()).toEqual(['cam main mp4', 'early main mp4', 'early screen webm'])
  for (const segment of segments) {
    expect(segment.end).not.toBe('left')
    await readRecorded(recording.path(segment))
    await decodeRecorded(recording.path(segment))
  }
  // The time line says who was when: all of them began within the seconds of this test.
  const began = segments.map(({ startedAt }) => startedAt)
  expect(Math.max(...began) - Math.min(...began)).toBeLessThan(60_000)
  await Promise.all([page.page.close(), screen.page.close()])
  for (const client of [early, late]) client.drop()
})
