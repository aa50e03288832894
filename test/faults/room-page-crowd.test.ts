import { afterAll, beforeAll, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { WhipPeer } from '../support/media/whip-peer.ts'

/** More users than a page watches while hidden. */
const count = 28
/** Visible tiles, including the own one. */
const tiles = 4
const [speech, quiet] = [25, 80] as const

let site: RoomSite
let visitor: Visitor
const people: SignalClient[] = []
const peers: WhipPeer[] = []
/** Streams that the page watches. */
const watched = new Set<string>()

beforeAll(async () => {
  site = await RoomSite.start()
  await site.controller.rpc('settings.set', { media: { most_tiles: tiles } })
  const room = await site.room({ topic: 'All hands', attendee_max: 100, max_video: 100, max_audio: 100 })
  const { node } = site.controller.ready
  for (let i = 0; i < count; i++) {
    const link = await site.link(room, { user_id: `p${i}`, user_name: `Person ${i}` })
    const signal = await SignalClient.join(node, room, { token: new URL(link).hash.replace('#token=', '') })
    signal.send({ type: 'state', audio: true, video: false })
    people.push(signal)
    peers.push(await WhipPeer.open(`${node}/whip/${room}`, signal.joined.session, { pictures: 1, packets: 1 }))
  }
  for (const peer of peers) peer.level = quiet
  visitor = await site.open(await site.link(room, { user_id: 'me', user_name: 'Me' }), { equipment: 'none' })
  const sessions = new Map<string, string>()
  visitor.page.on('response', (response) => {
    const asked = /\/whep\/\d+\/([^?/]+)/.exec(response.url())?.[1]
    const { location } = response.headers()
    if (asked === undefined || response.request().method() !== 'POST' || location === undefined) return
    sessions.set(new URL(location, response.url()).href, asked)
    watched.add(asked)
  })
  visitor.page.on('request', (request) => {
    if (request.method() === 'DELETE') watched.delete(sessions.get(request.url()) ?? '')
  })
  await visitor.enter()
}, 120_000)

afterAll(async () => {
  await Promise.all(peers.map(async (peer) => await peer.close()))
  for (const client of people) client.drop()
  await site[Symbol.asyncDispose]()
})

/** Lets a user talk during an action. */
async function whileTalking(index: number, run: () => Promise<void>): Promise<void> {
  const peer = peers[index]
  if (peer === undefined) throw new Error('nobody is there')
  let turn = 0
  const timer = setInterval(() => {
    turn += 1
    peer.level = turn % 4 === 0 ? quiet : speech
  }, 100)
  await run()
  clearInterval(timer)
  peer.level = quiet
}

test('in a large room the page watches visible users and speakers; a user who lost the tile stays audible for a while', {
  timeout: 60_000,
}, async () => {
  await expect.poll(() => [...watched].sort().join(' '), { timeout: 10_000 }).toBe('p0 p1 p2')
  await whileTalking(20, async () => {
    await expect.poll(() => watched.has('p20')).toBe(true)
    await visitor.tile('Person 20').getByText('speaking').waitFor()
  })
  // One of the three had to give way, and was silent.
  await expect.poll(() => watched.size, { timeout: 15_000 }).toBe(3)
  expect(watched.has('p20')).toBe(true)
  expect(visitor.problems).toEqual([])
})

test('when a user leaves and the room becomes small, the page watches everybody', { timeout: 60_000 }, async () => {
  for (const client of people.splice(23)) client.drop()
  await Promise.all(peers.splice(23).map(async (peer) => await peer.close()))
  await expect.poll(() => watched.size, { timeout: 40_000 }).toBe(23)
})
