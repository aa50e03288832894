import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '../../server/nodes/embedded/proposed-nodes.ts'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

/** Maximum time from the return of the site until users see each other, in milliseconds. */
const backMs = 5_000
const host = '127.0.0.1'

describe('users in a meeting when the site restarts or a node is taken out of service', () => {
  let site: RoomSite
  let visitors: Visitor[] = []
  beforeAll(async () => {
    const [port = 0] = await freePorts({ host, from: 31_000 + (process.pid % 2_000), count: 1, taken: [] })
    const nodes = [
      { name: 'first', kind: 'embedded', port: 0 },
      { name: 'second', kind: 'embedded', port, enabled: false },
    ]
    site = await RoomSite.start({ nodes })
  })
  afterAll(() => site[Symbol.asyncDispose]())
  afterEach(async () => {
    for (const visitor of visitors) await visitor.close()
    visitors = []
  })

  /** Ann, who reads English, and 李明, who reads Chinese, with a camera. */
  async function meeting(): Promise<{ room: string; ann: Visitor; li: Visitor }> {
    const room = await site.room({ topic: 'Shift change' })
    await site.camera(room, `yard-${room}`, 'Yard', startEncodedCamera)
    const ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    const li = await site.join(await site.link(room, { user_id: 'li', user_name: '李明' }), { locale: 'zh-CN' })
    visitors = [ann, li]
    await Promise.all([ann.sees('Yard'), ann.sees('李明'), li.sees('Ann')])
    return { room, ann, li }
  }

  /** Waits for a notice on the page. */
  const says = (visitor: Visitor, words: string): Promise<void> => visitor.page.getByText(words).waitFor()

  test('read during a planned restart that they will be reconnected, and are, with pictures in both directions', {
    timeout: 120_000,
  }, async () => {
    const { ann, li } = await meeting()
    await site.stop()
    await Promise.all([says(ann, 'Restarting. You will be reconnected'), says(li, '服务正在重启，稍后将自动恢复')])
    await site.startAgain()
    const began = performance.now()
    await Promise.all([ann.sees('李明'), li.sees('Ann'), ann.sees('Yard')])
    const took = performance.now() - began
    console.info(`after a planned restart pictures are back in ${took.toFixed(0)} ms`)
    expect(took).toBeLessThan(backMs)
    expect(await ann.page.getByText('Restarting').count()).toBe(0)
    expect([...ann.problems, ...li.problems]).toEqual([])
  })

  test('are back after the only node was disabled and enabled a moment later', { timeout: 120_000 }, async () => {
    const { ann, li } = await meeting()
    await site.controller.rpc('nodes.disable', { name: 'first' })
    await Promise.all([says(ann, 'Restarting. You will be reconnected'), says(li, '服务正在重启，稍后将自动恢复')])
    await site.controller.rpc('nodes.enable', { name: 'first' })
    await expect.poll(nodeAnswers, { timeout: 10_000 }).toBe(true)
    const began = performance.now()
    await Promise.all([ann.sees('李明'), li.sees('Ann')])
    expect(performance.now() - began).toBeLessThan(backMs)
  })

  test('are moved by their pages when a node is disabled while another one runs', {
    timeout: 120_000,
  }, async () => {
    await site.controller.rpc('nodes.enable', { name: 'second' })
    await expect
      .poll(async () => (await site.controller.rpc('nodes.list', {})).map(({ state }) => state))
      .toEqual(['online', 'online'])
    const { room, ann, li } = await meeting()
    const before = await nodeOf(room)
    const began = performance.now()
    await site.controller.rpc('nodes.disable', { name: before })
    await expect.poll(() => nodeOf(room), { timeout: 10_000 }).not.toBe(before)
    await Promise.all([ann.sees('李明'), li.sees('Ann'), ann.sees('Yard')])
    console.info(`people and camera are on the other node after ${(performance.now() - began).toFixed(0)} ms`)
  })

  async function nodeOf(room: string): Promise<string> {
    return (await site.controller.rpc('rooms.get', { room_id: room })).room.node
  }

  async function nodeAnswers(): Promise<boolean> {
    return await fetch(`${site.controller.ready.node}/room/`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
})
