import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LossyProxy, startLossyProxy } from '../support/media/lossy-proxy.ts'
import { RoomSite, Visitor } from '../e2e/room-page-visit.ts'

/** How long people wait for pictures after the computer has a network again, in milliseconds: 1 to 2 s, and a busy machine takes its time. */
const withinMs = 6_000
/** The node is reached over this address: what comes there is led on while a network is up. */
const way = '127.0.0.2'

describe('a laptop changes networks', () => {
  let site: RoomSite
  let room: string
  let ann: Visitor
  let network: LossyProxy
  beforeAll(async () => {
    site = await RoomSite.start({
      nodes: [{ name: 'here', kind: 'embedded' }],
      settings: { media: { advertised: [way] } },
    })
    room = await site.room({ topic: 'On the move' })
    await site.camera(room, 'yard', '停车场')
    network = await startLossyProxy(udpPort(), 0, way)
    const page = await site.window()
    // As from behind a NAT: the node cannot reach the browser by the address that its requests come from, and waits for it.
    await page.route(/\/(?:whip|whep|session)\//, async (route) => {
      const sent = route.request().postData()
      await route.continue(sent === null ? {} : { postData: sent.replace(/a=candidate:.*\r\n/g, '') })
    })
    ann = new Visitor(page)
    await page.goto(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    await ann.enter()
    await Promise.all([ann.sees('停车场'), sent(5)])
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await network[Symbol.asyncDispose]()
  })

  /** The one of WebRTC is that of the node's page where it is free. */
  function udpPort(): number {
    return Number(new URL(site.controller.ready.node).port)
  }

  /** Resolves when the node got so many more pictures of Ann. */
  async function sent(more: number): Promise<void> {
    const frames = async (): Promise<number> => {
      const { streams } = await site.controller.rpc('media.stats', { room_id: room })
      return streams.find(({ stream_id }) => stream_id === 'ann')?.frames ?? 0
    }
    const before = await frames()
    while ((await frames()) < before + more) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  test('pictures are back at once in both directions, in the same sessions', async () => {
    const asked: string[] = []
    ann.page.on('request', (request) => {
      if (/\/(?:whip|whep|session)\//.test(request.url())) asked.push(request.method())
    })
    await ann.page.context().setOffline(true)
    await network[Symbol.asyncDispose]()
    await ann.page.getByText('Coming back by itself').waitFor()
    await ann.pauses('停车场')
    network = await startLossyProxy(udpPort() + 100, 0, way)
    const began = performance.now()
    await ann.page.context().setOffline(false)
    await Promise.all([ann.sees('停车场', 2), sent(2)])
    expect(performance.now() - began).toBeLessThan(withinMs)
    // The camera's and the person's own session were told of the new network, and no new one was made.
    expect(new Set(asked)).toEqual(new Set(['PATCH']))
    expect(ann.problems).toEqual([])
  })
})
