import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

/** A site with two embedded nodes: the page is served by one of them, and the room is on the other. */
describe('a room on another node than that of the page', () => {
  let site: RoomSite
  let room: string
  let ann: Visitor
  /** Origins of the page's node and of the room's. */
  let home: string
  let other: string
  /** Name of the other node. */
  let otherName: string
  beforeAll(async () => {
    site = await RoomSite.start()
    home = site.controller.ready.node
    const [added] = await site.controller.rpc('nodes.add_embedded', { count: 1 })
    otherName = added?.config.name ?? ''
    other = `http://127.0.0.1:${added?.config.port}`
    const offline = async (): Promise<boolean> =>
      (await site.controller.rpc('nodes.list', {})).some(({ state }) => state !== 'online')
    while (await offline()) await new Promise((resolve) => setTimeout(resolve, 100))
    // A room gets its node by load when its first camera joins: of two rooms one is there.
    for (const [camera, topic] of Object.entries({ yard: 'Here', gate: 'Next door' })) {
      const made = await site.room({ topic, entry_by_number: 'on' })
      await site.camera(made, camera, '停车场', startEncodedCamera)
      const { room: view } = await site.controller.rpc('rooms.get', { room_id: made })
      if (view.node === otherName) room = made
    }
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
  })

  /** Makes the address of the same page on the other node, where the room was before. */
  const fromHome = (url: string): string => url.replace(other, home)
  /** Collects the origins of the page's media sessions. */
  function origins(visitor: Visitor): Set<string> {
    const found = new Set<string>()
    visitor.page.on('request', (request) => {
      if (/\/(?:whip|whep)\//.test(request.url())) found.add(new URL(request.url()).origin)
    })
    return found
  }
  /** Ids of the processes of the embedded nodes, the latest last. */
  function mediaProcesses(): number[] {
    const { pid } = site.controller.child
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number)
  }
  const inRoom = async (): Promise<string[]> =>
    (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)

  test('with a link: the page connects there by itself, and media flows in both directions', async () => {
    ann = await site.open(fromHome(await site.link(room, { user_id: 'ann', user_name: 'Ann' })))
    const went = origins(ann)
    await ann.enter()
    await Promise.all([ann.sees('停车场'), ann.sees('Ann (you)')])
    expect(went).toEqual(new Set([other]))
    expect(await inRoom()).toEqual([expect.stringMatching(/yard|gate/), 'ann'])
    const { streams } = await site.controller.rpc('media.stats', { room_id: room })
    expect(streams.map(({ stream_id }) => stream_id)).toContain('ann')
  })

  test('with the number alone: the page connects there as well, and both users see each other', async () => {
    const bo = await site.open(`${home}/room/?roomId=${room}`)
    await bo.enter('Bo')
    await Promise.all([bo.sees('停车场'), bo.sees('Ann'), ann.sees('Bo')])
    await bo.close()
  })

  test('after that node is gone for good the page asks its own node again, and joins the room on its new node', async () => {
    process.kill(mediaProcesses().at(-1) ?? 0, 'SIGKILL')
    await site.controller.rpc('nodes.disable', { name: otherName })
    await ann.page.getByText('You are connected again').waitFor()
    await ann.sees('停车场')
    await expect.poll(inRoom).toEqual(expect.arrayContaining([expect.stringMatching(/yard|gate/), 'ann']))
    expect(ann.problems).toEqual([])
  })

  test("after the room's current node is disabled users read that they will be reconnected, and are, on the other node", async () => {
    const { controller } = site
    await controller.rpc('nodes.enable', { name: otherName })
    const nodes = () => controller.rpc('nodes.list', {})
    await expect.poll(async () => (await nodes()).every(({ state }) => state === 'online')).toBe(true)
    const first = (await nodes()).find(({ config }) => config.name !== otherName)?.config.name ?? ''
    const went = origins(ann)
    await controller.rpc('nodes.disable', { name: first })
    await ann.page.getByText('Restarting. You will be reconnected').waitFor()
    await ann.sees('停车场')
    await expect.poll(() => [...went]).toEqual([other])
    await expect.poll(inRoom).toEqual(expect.arrayContaining([expect.stringMatching(/yard|gate/), 'ann']))
    expect(ann.problems).toEqual([])
  })
})
