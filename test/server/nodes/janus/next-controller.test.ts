import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { sole } from '../../../support/sole-leadership.ts'
import type { RoomMediaParams } from '../../../../server/nodes/port/room-media.ts'
import { JanusPeople } from '../../../../server/nodes/janus/people/janus-people.ts'
import type { PeopleEvent } from '../../../../server/nodes/janus/people/people-media.ts'
import { MediaTickets } from '../../../../server/nodes/janus/people/media-tickets.ts'
import { createSealer } from '../../../../server/store/sealer.ts'
import { type JanusServer, startJanus } from '../../../support/janus/janus-server.ts'
import { peopleEndpoint } from '../../../support/janus/people-endpoint.ts'
import { RoomPeer } from '../../../support/janus/room-peers.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { WhipPeer } from '../../../support/media/whip-peer.ts'

/** Users of the room page in a room on a Janus server, whose controller ends while they are there: what the next one finds, and can do. */

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const soon = AbortSignal.timeout.bind(AbortSignal, 10_000)
const secret = 'of the room'
const room = 'r1'
const ann = { roomId: room, userId: 'ann', userName: 'Ann', role: 'member' } as const
const bob = { roomId: room, userId: 'bob', userName: 'Bob', role: 'member' } as const
const siteKey = randomBytes(32)

let janus: JanusServer
let told: PeopleEvent[] = []
let before: JanusPeople
let endpoint: Awaited<ReturnType<typeof peopleEndpoint>>
let sender: WhipPeer
let viewer: WhepPeer
let native: RoomPeer
/** Ticket kept by the page that sends. */
let sent: RoomMediaParams<'resume'>
let watched: RoomMediaParams<'resume'>

beforeAll(async () => {
  janus = await startJanus()
  const how = { publishers: 6, require_pvtid: true, videocodec: 'h264', secret }
  await janus.ask('videoroom', { request: 'create', room, admin_key: 'admin key', ...how })
})
afterAll(async () => {
  await janus[Symbol.asyncDispose]()
})

beforeEach(async () => {
  told = []
  before = controller()
  endpoint = await peopleEndpoint(before.media)
  native = await RoomPeer.join(janus, room, 'native')
  before.enter(ann)
  before.enter(bob)
  sender = await WhipPeer.open(`${endpoint.url}/whip/${room}/ann`, '', { anyAddress: true })
  await native.until('ann')
  viewer = await WhepPeer.openOffered(`${endpoint.url}/whep/${room}/ann/bob`)
  const [ofSender = '', ofViewer = ''] = endpoint.tickets
  sent = { roomId: room, userId: 'ann', streamId: 'ann', height: null, sends: true, ticket: ofSender, sdp: 'v=0' }
  watched = { roomId: room, userId: 'bob', streamId: 'ann', height: null, sends: false, ticket: ofViewer, sdp: 'v=0' }
})
afterEach(async () => {
  await before.close()
  await sender.close()
  await viewer.close()
  await native.leave()
  await endpoint[Symbol.asyncDispose]()
})

function controller(key = siteKey, node = 'janus'): JanusPeople {
  return new JanusPeople({
    socket: { url: janus.wsUrl, apiSecret: 'api secret', leadership: sole, logger },
    entrance: { admit: () => Promise.resolve({}), admitted: () => {}, changed: () => {} },
    rooms: {
      nameOf: (roomId) => roomId,
      kick: async (_, id) => {
        await janus.ask('videoroom', { request: 'kick', room, secret, id })
        return true
      },
      moderate: async (_, { userId: id, mid, muted: mute }) => {
        await janus.ask('videoroom', { request: 'moderate', room, secret, id, mid, mute })
        return true
      },
    },
    tickets: new MediaTickets(createSealer(key), node),
    tell: (event) => told.push(event),
    logger,
  })
}

/** Repeats a check until it passes. */
const until = (look: () => void | Promise<void>): Promise<void> => vi.waitFor(look, { timeout: 5_000, interval: 20 })

/** Resolves when more packets of the watched stream have arrived. */
async function flows(): Promise<void> {
  const { received } = viewer.video
  await until(() => expect(viewer.video.received).toBeGreaterThan(received + 20))
}

/** Watches ann by Janus's own API. Returns a function that tells whether she was seen leaving. */
function watchAnn(): () => boolean {
  let gone = false
  void native.until('ann', false).then(() => {
    gone = true
  })
  return () => gone
}

test('continues with the media of pages that kept their tickets, and can end it; nobody else notices', async () => {
  const annWent = watchAnn()
  await before.close(true)
  await flows()
  const next = controller()
  next.enter(ann, sent.ticket)
  next.enter(bob, watched.ticket)
  const [publication, view] = await Promise.all([next.media.resume(sent, soon()), next.media.resume(watched, soon())])
  expect(next.feeds.list(room).map(({ feedId }) => feedId)).toEqual(['ann'])
  await flows()
  expect(annWent()).toBe(false)
  await until(async () => expect(await janus.participants(room)).toEqual(['ann', 'bob', 'native']))

  // The very same sessions: its actions have an effect.
  await next.media.resize({ session: view.session, height: 0 }, soon())
  const { received } = viewer.video
  const { received: heard } = viewer.audio
  await until(() => expect(viewer.audio.received).toBeGreaterThan(heard + 20))
  expect(viewer.video.received).toBeLessThan(received + 10)
  await next.media.resize({ session: view.session, height: 720 }, soon())
  await flows()
  await next.media.end({ session: publication.session })
  await until(() => expect(annWent()).toBe(true))
  expect(told).toContainEqual({ type: 'over', session: view.session })
  await next.close()
  expect(await janus.participants(room)).toEqual(['native'])
})

test('continues a session of which nothing else is left, and so does the controller after it', async () => {
  await sender.close()
  await viewer.close()
  for (let more = 0; more < 3; more++) {
    await before.close(true)
    before = controller()
    before.enter(bob, watched.ticket)
    await expect(before.media.resume(watched, soon())).rejects.toThrow('published no more')
    expect(await janus.participants(room)).toContain('bob')
  }
  expect(told.filter(({ type }) => type === 'out')).toEqual([])
})

test('accepts a ticket only from its user and for its purpose', async () => {
  await before.close(true)
  const next = controller()
  const annWent = watchAnn()
  // Another user's ticket is useless, above all for their place.
  next.enter(bob, sent.ticket)
  await expect(next.media.resume({ ...watched, ticket: sent.ticket }, soon())).rejects.toThrow()
  next.enter(ann, sent.ticket)
  await expect(next.media.resume({ ...sent, streamId: 'ann~screen' }, soon())).rejects.toThrow()
  await expect(next.media.resume({ ...sent, sends: false }, soon())).rejects.toThrow()
  await expect(next.media.resume({ ...sent, ticket: `${sent.ticket.slice(0, -8)}AAAAAAAA` }, soon())).rejects.toThrow()
  expect(annWent()).toBe(false)
  await next.media.resume(sent, soon())
  await next.close()
})

test.each([
  ['of another site', () => controller(randomBytes(32))],
  ['of another node', () => controller(siteKey, 'another')],
])('lets somebody with a ticket %s in as one who is new', async (_, other) => {
  await before.close(true)
  const next = other()
  expect(next.issued(sent.ticket, ann)).toBe(false)
  next.enter(ann, sent.ticket)
  await expect(next.media.resume(sent, soon())).rejects.toThrow()
  await until(async () => expect(await janus.participants(room)).toContain('ann'))
  await next.close()
})

test('admits a user whose session the node has ended, or who was removed meanwhile, as new', async () => {
  await before.close(true)
  told = []
  await janus.ask('videoroom', { request: 'kick', room, secret, id: 'ann' })
  await native.until('ann', false)
  const next = controller()
  next.enter(ann, sent.ticket)
  await expect(next.media.resume(sent, soon())).rejects.toThrow()
  await until(async () => expect(await janus.participants(room)).toContain('ann'))
  expect(told.filter(({ type }) => type !== 'feeds')).toEqual([])
  await next.close()
})

test('does not continue views of a user who republishes meanwhile: viewers have to watch again', async () => {
  await before.close(true)
  await janus.ask('videoroom', { request: 'kick', room, secret, id: 'ann' })
  await native.until('ann', false)
  const next = controller()
  next.enter(ann, sent.ticket)
  next.enter(bob, watched.ticket)
  await expect(next.media.resume(sent, soon())).rejects.toThrow()
  await using nextEndpoint = await peopleEndpoint(next.media)
  const again = await WhipPeer.open(`${nextEndpoint.url}/whip/${room}/ann`, '', { anyAddress: true })
  await until(() => expect(next.feeds.list(room)).toHaveLength(1))
  await expect(next.media.resume(watched, soon())).rejects.toThrow('by another')
  const anew = await WhepPeer.openOffered(`${nextEndpoint.url}/whep/${room}/ann/bob`)
  expect(anew.packets).toBeGreaterThan(0)
  await anew.close()
  await again.close()
  await next.close()
})

test('a page that reconnects through another process keeps its media, found by its names', async () => {
  const [publication, view] = endpoint.sessions
  expect(await before.media.resume(sent, soon())).toEqual({ session: publication, sdp: '', ticket: sent.ticket })
  expect(await before.media.resume(watched, soon())).toEqual({ session: view, sdp: '', ticket: watched.ticket })
  await flows()
})
