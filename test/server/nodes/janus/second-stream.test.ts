import { expect, onTestFinished, test } from 'vitest'
import { sole } from '../../../support/sole-leadership.ts'
import { JanusPeople } from '../../../../server/nodes/janus/people/janus-people.ts'
import type { PeopleEvent } from '../../../../server/nodes/janus/people/people-media.ts'
import { isRtp, payloadOf } from '../../../../server/media/rtp/packet.ts'
import { h264Parameters } from '../../../../server/media/rtsp/resolution.ts'
import { startCamera } from '../../../support/camera/camera.ts'
import { CameraSite, nodeDevice } from '../../../support/sites/camera-site.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { peopleEndpoint } from '../../../support/janus/people-endpoint.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { shared } from '../../../support/fixtures.ts'
const soon = (): AbortSignal => AbortSignal.timeout(20_000)
let rooms = 0

/** Cameras have two streams: the main stream is 360 lines high, the substream 90. */
const janus = shared(() => startJanus())
const camera = shared(() => startCamera({ fps: 10, gop: 5 }))

/** Opens a room with a camera in it, and users who watch through the page. */
async function openRoom(main = '/stream1', second = '/stream2', stallMs = 5_000) {
  const site = await CameraSite.open(janus(), { lingerMs: 50, stallMs })
  const room = `small-${++rooms}`
  await site.openRoom(room)
  const told: PeopleEvent[] = []
  const people = new JanusPeople({
    socket: {
      url: janus().wsUrl,
      apiSecret: janus().configuration.secrets.api,
      leadership: sole,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    },
    entrance: { admit: () => Promise.resolve({}), admitted: () => {}, changed: () => {} },
    rooms: { nameOf: (roomId) => roomId, kick: () => Promise.resolve(true), moderate: () => Promise.resolve(true) },
    small: site.cameras.small,
    tell: (event) => told.push(event),
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  const endpoint = await peopleEndpoint(people.media)
  onTestFinished(async () => {
    await people.close()
    await endpoint[Symbol.asyncDispose]()
  })
  const device = nodeDevice(
    'cam',
    camera().url(main),
    undefined,
    second.startsWith('/') ? camera().url(second) : second,
  )
  await site.cameras.add(room, device, soon())
  const watch = (query: string, who = '') => watchPictures(`${endpoint.url}/whep/${room}/cam${who}${query}`)
  const over = (): string[] => told.flatMap((event) => (event.type === 'over' ? [event.session] : []))
  return { site, room, people, endpoint, watch, over }
}

/** Opens a real viewer that reports the height of the pictures it receives. */
async function watchPictures(url: string): Promise<{ height: () => Promise<number>; close: () => Promise<unknown> }> {
  let height = 0
  const viewer = await WhepPeer.openOffered(url, '', (packet) => {
    const found = isRtp(packet) ? h264Parameters(payloadOf(packet)) : undefined
    if (found !== undefined) height = found.height
  })
  return {
    height: async () => {
      height = 0
      await expect.poll(() => height, { timeout: 5_000 }).toBeGreaterThan(0)
      return height
    },
    close: () => viewer.close(),
  }
}

test('a viewer who shows a camera small gets its substream, which is pulled for nobody else; the others see the main stream', async () => {
  const { site, room, people, watch } = await openRoom()
  expect(await site.mountpoints()).toHaveLength(1)
  people.enter({ roomId: room, userId: 'ann', userName: 'Ann', role: 'member' })
  const large = await watch('', '/ann')
  expect(await large.height()).toBe(360)
  expect(await site.mountpoints()).toHaveLength(1)

  const small = await watch('?size=small', '/ann')
  expect([await small.height(), await large.height()]).toEqual([90, 360])
  expect(await site.mountpoints()).toHaveLength(2)
  // The camera is one participant, however it is displayed.
  expect(await site.publishers(room)).toEqual(['cam'])

  const tile = await watch('?height=200')
  expect(await tile.height()).toBe(90)
  await small.close()
  expect(await tile.height()).toBe(90)
  await tile.close()
  await expect.poll(() => site.mountpoints()).toHaveLength(1)
  expect(await large.height()).toBe(360)
  await large.close()
})

test('an enlarged preview restarts with the large picture; a hidden one receives nothing', async () => {
  const { people, endpoint, watch, over } = await openRoom()
  const tile = await watch('?height=120')
  const session = endpoint.sessions.at(-1) ?? ''
  await people.media.resize({ session, height: 0 }, soon())
  await people.media.resize({ session, height: 180 }, soon())
  expect(await tile.height()).toBe(90)
  expect(over()).toEqual([])
  await people.media.resize({ session, height: 720 }, soon())
  expect(over()).toEqual([session])
  const again = await watch('?height=720')
  expect(await again.height()).toBe(360)
  await again.close()
})

test('if the substream is unavailable, the main stream is sent', async () => {
  for (const second of ['/nothing', 'rtsps://127.0.0.1:9/cam', 'rtsp://127.0.0.1:9/cam']) {
    const { site, watch } = await openRoom('/stream1', second)
    const viewer = await watch('?size=small')
    expect(await viewer.height()).toBe(360)
    expect(await site.mountpoints()).toHaveLength(1)
    await viewer.close()
    await site.takeOutOfService()
  }
})

test("a substream without the main stream's sound is not used", async () => {
  const { site, watch } = await openRoom('/cam', '/stream2')
  const viewer = await watch('?size=small')
  expect(await viewer.height()).toBe(360)
  await expect.poll(() => site.mountpoints()).toHaveLength(1)
  await viewer.close()
})

test('when the camera leaves the room viewers of its substream are notified, and it is no longer pulled', async () => {
  const { site, room, endpoint, watch, over } = await openRoom()
  await watch('?size=small')
  await site.cameras.remove(room, 'cam', soon())
  expect(over()).toEqual(endpoint.sessions)
  await expect.poll(() => site.mountpoints()).toEqual([])
})

test('a silent substream ends, and its viewers restart with the main stream', async () => {
  const mortal = await startCamera({ fps: 10, gop: 5 })
  onTestFinished(() => mortal.kill())
  const { endpoint, watch, over } = await openRoom('/stream1', mortal.url('/stream2'), 1_000)
  await watch('?size=small')
  await mortal.kill()
  await expect.poll(over, { timeout: 8_000 }).toEqual(endpoint.sessions)
  const again = await watch('?size=small')
  expect(await again.height()).toBe(360)
  await again.close()
})
