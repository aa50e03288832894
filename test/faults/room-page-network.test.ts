import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { type LossyProxy, startLossyProxy } from '../support/media/lossy-proxy.ts'

/** Maximum time without pictures after a change of networks, in milliseconds: normally 1 to 2 s, more on a busy machine. */
const withinMs = 6_000
/** The same after the old path is gone, if the browser gets no event. */
const unannouncedMs = 3_000
/** Maximum time until chat messages arrive again. */
const signalledMs = 6_000
/** Address of a proxy to the node: it forwards packets while a network is up. */
const way = '127.0.0.2'
/** Offset from a connection's first port to the one used after an ICE restart. */
const restartPortAbove = 100

describe('a laptop changes networks', () => {
  let site: RoomSite
  let room: string
  let camera: Camera
  let ann: Visitor
  const networks: LossyProxy[] = []
  /** Methods of the page's requests to its sessions, except HEAD. */
  const asked: string[] = []
  /** Number of networks so far: WebSockets of an earlier one are dead. */
  let changes = 0
  beforeAll(async () => {
    site = await RoomSite.start({
      nodes: [{ name: 'here', kind: 'embedded' }],
      settings: { media: { advertised: [way] } },
    })
    room = await site.room({ topic: 'On the move' })
    camera = await startCamera({ fps: 8, gop: 8 })
    const device = { roomId: room, userId: 'yard', userName: '停车场', userAddress: camera.url('/cam') }
    await site.controller.rpc('devices.create', { ...device, assist_address: camera.url('/small'), join: 'required' })
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await camera.kill()
  })
  beforeEach(async () => {
    networks.push(await startLossyProxy(udpPort(), 0, way))
    const page = await site.window()
    // Like a NAT: the node cannot reach the browser at the source address of its requests, and waits for its packets.
    await page.route(/\/(?:whip|whep|session)\//, async (route) => {
      const sent = route.request().postData()
      await route.continue(sent === null ? {} : { postData: sent.replace(/a=candidate:.*\r\n/g, '') })
    })
    await page.routeWebSocket(/\/signal$/, (socket) => {
      const opened = changes
      const node = socket.connectToServer()
      socket.onMessage((message) => opened === changes && node.send(message))
      node.onMessage((message) => opened === changes && socket.send(message))
    })
    ann = new Visitor(page)
    await page.goto(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    await ann.enter()
    await Promise.all([ann.sees('停车场'), sent(5)])
    asked.length = 0
    page.on('request', (request) => {
      if (/\/(?:whip|whep|session)\//.test(request.url()) && request.method() !== 'OPTIONS')
        asked.push(request.method())
    })
  })
  afterEach(async () => {
    if (!ann.page.isClosed()) await ann.close()
    for (const network of networks.splice(0)) await network[Symbol.asyncDispose]()
  })

  /** The UDP port of WebRTC equals the page's port if that is free. */
  function udpPort(): number {
    return Number(new URL(site.controller.ready.node).port)
  }

  /** Resolves when the node has received this many more pictures of Ann. */
  async function sent(more: number): Promise<void> {
    const frames = async (): Promise<number> => {
      const { streams } = await site.controller.rpc('media.stats', { room_id: room })
      return streams.find(({ stream_id }) => stream_id === 'ann')?.frames ?? 0
    }
    const before = await frames()
    while ((await frames()) < before + more) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  test('pictures return at once in both directions, in the same sessions', async () => {
    await ann.page.context().setOffline(true)
    await networks.pop()?.[Symbol.asyncDispose]()
    await ann.page.getByText('Connection lost. Reconnecting').waitFor()
    await ann.pauses('停车场')
    networks.push(await startLossyProxy(udpPort() + restartPortAbove, 0, way))
    const began = performance.now()
    await ann.page.context().setOffline(false)
    await Promise.all([ann.sees('停车场', 2), sent(2)])
    expect(performance.now() - began).toBeLessThan(withinMs)
    // The sessions of the camera and the user moved to the new network, and no new one was made.
    expect(new Set(asked)).toEqual(new Set(['PATCH']))
    expect(ann.problems).toEqual([])
  })

  test('without an event of the browser a silent stream finds another path within 3 s', async () => {
    // Silence is judged by the previous regularity.
    await ann.sees('停车场', 40)
    expect(asked).toEqual([])
    networks.push(await startLossyProxy(udpPort() + restartPortAbove, 0, way))
    const began = performance.now()
    const [gone] = networks
    if (gone === undefined) throw new Error('there was no network')
    changes += 1
    Object.assign(gone.toClient, { loss: 1 })
    Object.assign(gone.toTarget, { loss: 1 })
    // Pictures in flight are still shown.
    await ann.pauses('停车场', 300)
    await Promise.all([ann.sees('停车场', 2), sent(2)])
    const tookMs = performance.now() - began
    console.info(`pictures are back in both directions after ${tookMs.toFixed(0)} ms`)
    expect(tookMs).toBeLessThan(unannouncedMs)
    expect(new Set(asked)).toEqual(new Set(['PATCH']))
    // Signalling also finds its new path long before its next regular check.
    await ann.page.getByText('You are connected again').waitFor()
    expect(performance.now() - began).toBeLessThan(signalledMs)
    expect(ann.problems).toEqual([])
  })

  test('a silent camera does not count as a change of networks for a user who only watches', async () => {
    const bo = await site.join(await site.link(room, { user_id: 'bo', user_name: 'Bo' }), { equipment: 'none' })
    await ann.close()
    // Silence is judged by the previous regularity.
    for (let second = 0; second < 4; second++) await bo.sees('停车场', 8)
    bo.page.on('request', (request) => asked.push(request.method()))
    // The camera freezes, and the node does not notice for 5 s.
    camera.signal('SIGSTOP')
    await bo.pauses('停车场', 1_500)
    camera.signal('SIGCONT')
    await bo.sees('停车场', 5)
    expect(asked).not.toContain('PATCH')
    await bo.close()
  })
})
