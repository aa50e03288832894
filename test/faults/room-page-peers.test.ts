import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPeerToPeerRoom, type PeerToPeerRoom } from '../e2e/peer-to-peer-room.ts'
import type { Visitor } from '../support/sites/room-site.ts'

/** Events in a peer-to-peer room after users see each other. */
describe('a peer-to-peer room', () => {
  let opened: PeerToPeerRoom
  let ann: Visitor
  let bo: Visitor
  beforeAll(async () => {
    opened = await openPeerToPeerRoom()
    ann = await opened.join('ann', 'Ann')
    bo = await opened.join('bo', 'Bo')
    await Promise.all([ann.sees('Bo'), bo.sees('Ann')])
  })
  afterAll(() => opened.site[Symbol.asyncDispose]())

  test('a screen is shared directly, also with a user who joins later', async () => {
    await ann.button('Share your screen').click()
    await bo.sees('Screen of Ann')
    const chen = await opened.join('chen', '陈晨')
    await Promise.all([chen.sees('Screen of Ann'), chen.sees('Bo'), bo.sees('陈晨')])
    await ann.button('Stop sharing').click()
    await chen.tile('Screen of Ann').waitFor({ state: 'detached' })
    await chen.close()
    await ann.tile('陈晨').waitFor({ state: 'detached' })
  })

  test('a lost connection to the node does not disconnect users from each other; a reloaded page finds everybody', async () => {
    await bo.page.context().setOffline(true)
    await bo.page.getByText('Connection lost. Reconnecting').waitFor()
    await bo.sees('Ann')
    await bo.page.context().setOffline(false)
    await bo.page.getByText('Connection lost. Reconnecting').waitFor({ state: 'detached' })
    await ann.sees('Bo')
    await bo.page.reload()
    await bo.enter()
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), bo.sees('停车场')])
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })
})
