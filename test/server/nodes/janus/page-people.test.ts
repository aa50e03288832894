import { beforeEach, expect, test, vi } from 'vitest'
import { JanusPeople } from '../../../../server/nodes/janus/people/janus-people.ts'
import type { PeopleEvent } from '../../../../server/nodes/janus/people/people-media.ts'
import type { PublishedFeed } from '../../../../server/nodes/janus/people/room-feeds.ts'
import { sole } from '../../../support/sole-leadership.ts'
import { janusCodes } from '../../../../server/nodes/janus/wire/janus-error.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { peopleEndpoint } from '../../../support/janus/people-endpoint.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { WhipPeer } from '../../../support/media/whip-peer.ts'
import { shared } from '../../../support/fixtures.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const soon = AbortSignal.timeout.bind(AbortSignal, 10_000)
const roomSecret = 'of the room'
const person = { roomId: 'r1', userName: '', role: 'member' } as const
const told: PeopleEvent[] = []

const janus = shared(() => startJanus())
/** People of the page in a test, which begins with an empty room. */
let people: JanusPeople
let endpoint: Awaited<ReturnType<typeof peopleEndpoint>>
beforeEach(async () => {
  const room = { room: 'r1', admin_key: 'admin key', secret: roomSecret }
  await janus().ask('videoroom', {
    request: 'create',
    ...room,
    publishers: 3,
    require_pvtid: true,
    videocodec: 'h264',
  })
  told.length = 0
  people = newPeople()
  endpoint = await peopleEndpoint(people.media)
  return async () => {
    await endpoint[Symbol.asyncDispose]()
    await people.close()
    await janus().ask('videoroom', { request: 'destroy', ...room })
  }
})

const newPeople = (lingerMs?: number): JanusPeople =>
  new JanusPeople({
    ...(lingerMs === undefined ? {} : { lingerMs }),
    socket: { url: janus().wsUrl, apiSecret: 'api secret', leadership: sole, logger },
    entrance: { admit: () => Promise.resolve({}), admitted: () => {}, changed: () => {} },
    rooms: {
      nameOf: (roomId) => roomId,
      kick: async (room, id) => {
        await janus().ask('videoroom', { request: 'kick', room, secret: roomSecret, id })
        return true
      },
      moderate: async (room, { userId: id, mid, muted: mute }) => {
        await janus().ask('videoroom', { request: 'moderate', room, secret: roomSecret, id, mid, mute })
        return true
      },
    },
    tell: (event) => told.push(event),
    logger,
  })

/** Repeats a check until it passes. */
const eventually = <T>(look: () => T | Promise<T>, check: (found: T) => void): Promise<void> =>
  vi.waitFor(async () => check(await look()), { timeout: 5_000, interval: 20 })

const inRoom = async (): Promise<string[]> => {
  const { participants } = (await janus().ask('videoroom', { request: 'listparticipants', room: 'r1' })) as {
    participants: { id: string }[]
  }
  return participants.map(({ id }) => id).sort()
}

async function enterBoth(): Promise<void> {
  people.enter({ ...person, userId: 'ann', userName: 'Ann' })
  people.enter({ ...person, userId: 'bob', userName: 'Bob' })
  await eventually(inRoom, (ids) => expect(ids).toEqual(['ann', 'bob']))
}

test('a user joins through the page, publishes camera and microphone, and another user watches them', async () => {
  await enterBoth()
  const sender = await sending('ann')
  const sent = [
    {
      feedId: 'ann',
      userId: 'ann',
      source: 'main',
      videoCodec: 'h264',
      audioCodec: 'opus',
      videoMuted: false,
      audioMuted: false,
      tellsLevel: true,
      speaks: false,
    },
  ]
  // The audio level extension shows a moment later.
  await eventually(
    () => people.feeds.list('r1'),
    (feeds) => expect(feeds).toEqual(sent),
  )
  const viewer = await WhepPeer.openOffered(`${endpoint.url}/whep/r1/ann/bob`)
  expect(viewer.video.received + viewer.audio.received).toBeGreaterThan(0)

  // An operator's preview watches as well, without being in the room.
  const unseen = await WhepPeer.openOffered(`${endpoint.url}/whep/r1/ann`)
  expect(unseen.packets).toBeGreaterThan(0)
  expect(await inRoom()).toEqual(['ann', 'bob'])

  await sender.close()
  const [, ...watching] = endpoint.sessions
  await eventually(
    () => told,
    (events) => expect(events).toEqual(expect.arrayContaining(watching.map((session) => ({ type: 'over', session })))),
  )
  expect(people.feeds.list('r1')).toEqual([])
  await viewer.close()
  await unseen.close()
})

test('they republish at once, and share their screen as well; leaving ends both', async () => {
  await enterBoth()
  await using first = await sending('ann')
  await first.close()
  await using again = await sending('ann')
  await using screen = await sending('ann', '?source=screen')
  expect(people.feeds.list('r1').map(({ feedId, source }) => [feedId, source])).toEqual([
    ['ann', 'main'],
    ['ann~screen', 'screen'],
  ])
  const viewer = await WhepPeer.openOffered(`${endpoint.url}/whep/r1/ann~screen/bob`)
  await screen.close()
  await eventually(inRoom, (ids) => expect(ids).toEqual(['ann', 'bob']))
  expect(people.feeds.list('r1').map(({ feedId }) => feedId)).toEqual(['ann'])
  await viewer.close()
  expect(again).toBeDefined()
  await people.places.leave('r1', 'ann')
  await eventually(inRoom, (ids) => expect(ids).toEqual(['bob']))
})

test('a picture that is not displayed is not sent, until it is displayed again', async () => {
  await enterBoth()
  await using sender = await sending('ann')
  expect(sender).toBeDefined()
  const wish = { roomId: 'r1', streamId: 'ann', height: null, small: false }
  const { session: unused, sdp: offer } = await people.media.watch({ ...wish, userId: 'bob' }, soon())
  expect(offer).toContain('a=candidate:')
  expect(offer).toContain('a=end-of-candidates')
  await people.media.end({ session: unused })
  const viewer = await WhepPeer.openOffered(`${endpoint.url}/whep/r1/ann/bob`)
  const session = endpoint.sessions.at(-1) ?? ''
  await people.media.resize({ session, height: 0 }, soon())
  const [video, audio] = [viewer.video.received, viewer.audio.received]
  await eventually(
    () => viewer.audio.received,
    (received) => expect(received).toBeGreaterThan(audio + 20),
  )
  // A few packets were in flight.
  expect(viewer.video.received).toBeLessThan(video + 10)
  await people.media.resize({ session, height: 300 }, soon())
  await eventually(
    () => viewer.video.received,
    (received) => expect(received).toBeGreaterThan(video + 30),
  )
  await viewer.close()
})

test('a preview shows a stream of a room without users of the page', async () => {
  await enterBoth()
  await using sender = await sending('ann')
  expect(sender).toBeDefined()
  const other = newPeople(100)
  const wish = { roomId: 'r1', userId: null, streamId: 'ann', height: null, small: false }
  const sessions = await Promise.all([1, 2].map(() => other.media.watch(wish, soon())))
  // All previews share one hidden participant, as long as any of them lasts.
  const hidden = async (): Promise<string[]> => (await inRoom()).filter((id) => id.endsWith('~screen'))
  for (const { session } of sessions) {
    expect(await hidden()).toHaveLength(1)
    await other.media.end({ session })
  }
  await eventually(hidden, (ids) => expect(ids).toEqual([]))
  expect(await inRoom()).toEqual(['ann', 'bob'])
  expect(other.feeds.list('r1')).toEqual([])
  await other.look('r1', soon())
  expect(other.feeds.list('r1')).toHaveLength(1)
  await other.close()
  await eventually(hidden, (ids) => expect(ids).toEqual([]))
})

test('a user who is still in the room is replaced when they join again', async () => {
  const before = newPeople()
  before.enter({ ...person, userId: 'cem' })
  await eventually(inRoom, (ids) => expect(ids).toContain('cem'))
  people.enter({ ...person, userId: 'cem' })
  await eventually(
    () => told,
    (events) => expect(events).toContainEqual(expect.objectContaining({ type: 'out', userId: 'cem' })),
  )
  await eventually(inRoom, (ids) => expect(ids).toContain('cem'))
  await before.close()
})

test('the controller is notified of users whom the room removes, and of a missing room', async () => {
  people.enter({ ...person, userId: 'dan' })
  await eventually(inRoom, (ids) => expect(ids).toContain('dan'))
  await janus().ask('videoroom', { request: 'kick', room: 'r1', secret: roomSecret, id: 'dan' })
  await eventually(
    () => told,
    (events) => expect(events).toContainEqual(expect.objectContaining({ type: 'out', userId: 'dan' })),
  )
  people.enter({ ...person, roomId: 'nowhere', userId: 'dan' })
  await eventually(
    () => told.at(-1),
    (last) => expect(last).toMatchObject({ type: 'out', roomId: 'nowhere', error: { code: janusCodes.noRoom } }),
  )
})

async function sending(userId: string, query = ''): Promise<WhipPeer & AsyncDisposable> {
  const peer = await WhipPeer.open(`${endpoint.url}/whip/r1/${userId}${query}`, '', { anyAddress: true })
  const source = query === '' ? 'main' : 'screen'
  const flows = (feed: PublishedFeed): boolean => feed.userId === userId && feed.source === source
  await eventually(
    () => people.feeds.list('r1').some(flows),
    (is) => expect(is).toBe(true),
  )
  return Object.assign(peer, {
    async [Symbol.asyncDispose]() {
      await peer.close()
    },
  })
}
