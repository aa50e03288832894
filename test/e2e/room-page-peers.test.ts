import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomSite, type Visitor } from './room-page-visit.ts'

/** Modes 3 and 4: people send straight to each other; the node relays their words and carries cameras only. */
describe('a peer-to-peer room', () => {
  let site: RoomSite
  let room: string
  let ann: Visitor
  let bo: Visitor
  beforeAll(async () => {
    site = await RoomSite.start()
    room = await site.room({ topic: 'Field talk', room_mode: 3 })
    await site.camera(room, 'yard', '停车场')
  })
  afterAll(() => site[Symbol.asyncDispose]())

  const join = async (id: string, name: string): Promise<Visitor> =>
    await site.join(await site.link(room, { user_id: id, user_name: name }))

  test('people see each other straight, and the camera through the node', async () => {
    ann = await join('ann', 'Ann')
    bo = await join('bo', 'Bo')
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('停车场'), bo.sees('停车场')])
    const { streams } = await site.controller.rpc('media.stats', { room_id: room })
    expect(streams.map(({ stream_id }) => stream_id)).toEqual(['yard'])
  })

  test('the camera off and on again, without a new beginning', async () => {
    await bo.page.keyboard.press('v')
    await ann.tile('Bo').locator('video').waitFor({ state: 'detached' })
    await bo.page.keyboard.press('v')
    await ann.sees('Bo')
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })
})
