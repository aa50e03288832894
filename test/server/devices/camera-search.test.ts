import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { CameraSearch } from '../../../server/devices/discovery/camera-search.ts'
import { type OnvifOptions, startOnvifCamera } from '../../support/camera/onvif-camera.ts'

const host = '127.0.0.1'
const login = { name: 'admin', password: 'gate & <yard>' }
const streams = [
  { address: 'rtsp://127.0.0.1:8554/cam?channel=1&subtype=1', width: 640, height: 360 },
  { address: 'rtsp://127.0.0.1:8554/cam?channel=1&subtype=0', width: 1920, height: 1080 },
]
const large = 'rtsp://127.0.0.1:8554/cam?channel=1&subtype=0'

function searcher(networks: readonly string[] = []): CameraSearch {
  return new CameraSearch(() => ({ from: [host], networks, waitMs: 350 }))
}

/** Result of a search without test cameras: those of other files answer on the same machine. */
async function searched(search: CameraSearch) {
  const { cameras, ...more } = await search.search()
  return { ...more, cameras: cameras.filter(({ model }) => model !== 'Roomdesk lab') }
}

async function camera(options: Partial<OnvifOptions> = {}) {
  const started = await startOnvifCamera({ host, name: 'Gate', streams, ...options })
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

test('a search finds cameras of the network by name, model and address, and reads their streams', async () => {
  const { id } = await camera()
  const search = searcher()
  const { cameras: found, searched: from } = await searched(search)
  expect(from).toEqual([host])
  expect(found.map(({ id: one, name, model, host: at }) => [one, name, model, at])).toEqual([[id, 'Gate', 'M1', host]])
  const { state, streams: named } = await search.streams(id, undefined)
  expect([state, named.map(({ address, width }) => [address, width])]).toEqual([
    'found',
    [
      [large, 1920],
      ['rtsp://127.0.0.1:8554/cam?channel=1&subtype=1', 640],
    ],
  ])
  expect(await search.streams('urn:uuid:never-found', undefined)).toEqual({ state: 'gone', streams: [] })
})

test.each([
  ['its password as a digest', {}],
  ['a clock that is an hour off', { clockOffset: -3_600_000 }],
  ['HTTP digest only', { httpDigest: true }],
  ['answers that name another host, as behind NAT', { wrongHost: '10.99.0.1' }],
  ['answers that name another host and port, as behind NAT', { wrongHost: '10.99.0.1', wrongPort: 9 }],
  ['several addresses', { beside: ['http://[fe80::1]:PORT/onvif/device_service', 'https://127.0.0.1:9/onvif'] }],
  ['several addresses behind NAT', { wrongHost: '10.99.0.1', beside: ['https://10.99.0.1:443/onvif'] }],
])('a camera with a login and %s', async (_, options) => {
  const { id } = await camera({ login, ...options })
  const search = searcher()
  await search.search()
  expect((await search.streams(id, undefined)).state).toBe('login')
  expect((await search.streams(id, { ...login, password: 'wrong' })).state).toBe('login')
  const { state, streams: named } = await search.streams(id, login)
  expect([state, named[0]?.address]).toEqual(['found', large])
})

test('cameras outside of the allowed networks, and invalid answers, are left out', async () => {
  await camera({ before: '<!DOCTYPE s [<!ENTITY a "b">]>' })
  const noise = createSocket({ type: 'udp4', reuseAddr: true })
  onTestFinished(() => void noise.close())
  noise.on('message', (_, { port, address }) => {
    for (const text of ['', '<', '<s:Envelope', '{"a":1}', '<a>'.repeat(4_000), '\0\xff'.repeat(500)])
      noise.send(text, port, address)
  })
  noise.bind(3702, () => noise.addMembership('239.255.255.250', host))
  await once(noise, 'listening')
  expect(await searched(searcher())).toEqual({ cameras: [], searched: [host], outside: [] })
  const { id } = await camera({ name: 'Yard' })
  expect((await searched(searcher())).cameras.map((found) => found.id)).toEqual([id])
  // It says that the networks are the reason.
  expect(await searched(searcher(['10.0.0.0/8']))).toEqual({ cameras: [], searched: [host], outside: [host] })
})
