import { expect, onTestFinished, test } from 'vitest'
import { openPeerToPeerRoom } from './peer-to-peer-room.ts'
import type { Visitor } from '../support/sites/room-site.ts'
import { step } from '../support/step.ts'

/** Modes 3 and 4: users send directly to each other; the node relays signalling and only forwards cameras. */
test('a peer-to-peer room', { timeout: 120_000 }, async () => {
  let ann: Visitor
  let bo: Visitor
  const opened = await openPeerToPeerRoom()
  onTestFinished(() => opened.site[Symbol.asyncDispose]())

  await step('users see each other directly, and the camera through the node', async () => {
    ann = await opened.join('ann', 'Ann')
    bo = await opened.join('bo', 'Bo')
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('停车场'), bo.sees('停车场')])
    const { streams } = await opened.site.controller.rpc('media.stats', { room_id: opened.room })
    expect(streams.map(({ stream_id }) => stream_id)).toEqual(['yard'])
  })

  await step('the camera goes off and on again without a new connection', async () => {
    await bo.page.keyboard.press('v')
    await ann.tile('Bo').locator('video').waitFor({ state: 'detached' })
    await bo.page.keyboard.press('v')
    await ann.sees('Bo')
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })
})
