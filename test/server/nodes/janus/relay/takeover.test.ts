import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../../../server/store/store.ts'
import { type JanusServer, startJanus } from '../../../../support/janus/janus-server.ts'
import type { JanusViewer } from '../../../../support/janus/janus-viewer.ts'
import { RelaySite } from '../../../../support/sites/relay-site.ts'
import { openRelayStore } from '../../../../support/janus/relay-store.ts'
import type { RoomPeer } from '../../../../support/janus/room-peers.ts'
import { storedRoom } from '../../../../support/stored-records.ts'
import { openTestRoom } from '../../../../support/janus/test-relay-node.ts'
import { MachineLoad } from '../../../../support/machine-load.ts'

/** Relays whose controller ends or dies, and its successor. */

let a: JanusServer
let b: JanusServer
let c: JanusServer

beforeAll(async () => {
  ;[a, b, c] = await Promise.all([startJanus(), startJanus(), startJanus()])
  return () => Promise.all([a, b, c].map((janus) => janus[Symbol.asyncDispose]()))
})

const soon = (): AbortSignal => AbortSignal.timeout(10_000)
const small = { pictures: 25, packets: 1, bytes: 200, audio: false }
/** Above the 40 ms between two pictures; a busy machine gets more. */
const gapMs = { quiet: 400, busy: 1_000 }

interface Watched {
  store: Store
  site: RelaySite
  ann: RoomPeer
  bob: RoomPeer
  feed: string
  viewer: JanusViewer
  /** Load of the machine since the viewer began. */
  load: MachineLoad
}

/** Ann publishes on the first node, Bob watches on the last one. */
async function watched(servers: readonly JanusServer[], room: string, fanOut?: number): Promise<Watched> {
  const store = await openRelayStore(room, [...'abc'].slice(0, servers.length))
  const site = await RelaySite.open(servers, room, { store, ...(fanOut === undefined ? {} : { fanOut }) })
  const [first = a, last = b] = [servers.at(0), servers.at(-1)]
  const ann = await site.join(first, 'ann')
  await ann.publish(small)
  const bob = await site.join(last, 'bob')
  const feeds = servers.slice(1).map((_, index) => site.relays.watch(room, 'ann', 'bc'[index] ?? '').feed(soon()))
  const feed = (await Promise.all(feeds)).at(-1) ?? ''
  await bob.until(feed)
  const viewer = await bob.count(feed)
  const load = new MachineLoad()
  onTestFinished(() => viewer[Symbol.asyncDispose]())
  await expect.poll(() => records(store)).toHaveLength(servers.length - 1)
  await expect.poll(() => records(store)).not.toContainEqual(expect.stringContaining('not up'))
  return { store, site, ann, bob, feed, viewer, load }
}

function records(store: Store): string[] {
  const loops = [...store.all('relay_loops').values()]
  return loops.map(
    ({ stream, from_node, to_node, up_at }) => `${stream} ${from_node} ${to_node}${up_at > 0 ? '' : ', not up'}`,
  )
}

/** Expects that the viewer had no loss until now, and still receives. */
async function expectUnharmed(viewer: JanusViewer, load: MachineLoad): Promise<void> {
  const { frames } = viewer.watched
  await expect.poll(() => viewer.watched.frames).toBeGreaterThan(frames + 10)
  expect(viewer.watched).toMatchObject({ lost: 0 })
  expect(viewer.watched.maxGap).toBeLessThan(load.bound(gapMs))
}

function steps(site: RelaySite): string[] {
  return site.relays.of(site.room).map(({ from, to, isUp }) => `${from} to ${to}${isUp ? '' : ', connecting'}`)
}

describe('the next controller', () => {
  test.for(['ends', 'dies'] as const)(
    'continues the relays of one that %s: nobody misses a picture',
    async (before) => {
      const room = `goes on, ${before}`
      const { store, site, bob, feed, viewer, load } = await watched([a, b], room)
      const [view] = site.relays.of(room)
      if (before === 'ends') await site.leave()
      else await site.abandon()

      const after = await RelaySite.open([a, b], room, { store, isThere: true })
      let left = false
      const gone = bob.until(feed, false).then(() => {
        left = true
      })
      const watch = after.relays.watch(room, 'ann', 'b')
      expect(await watch.feed(soon())).toBe(feed)
      expect(after.relays.of(room)).toEqual([view])
      await expectUnharmed(viewer, load)
      expect([left, await after.participants(b)]).toEqual([false, ['bob', 'relay-test~ann']])
      // The observer and one end of the relay: nothing else remains.
      await expect
        .poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')])
        .toEqual([2, 2])
      const again = await bob.watch(feed)
      await again.close()

      // It controls the relay. Earlier demand counts for a while, until viewers confirm it.
      watch.end()
      await after.relays.close()
      await Promise.all(after.nodes.map((node) => node.close()))
      const last = await RelaySite.open([a, b], room, { store, isThere: true, leftMs: 1_500 })
      await expect.poll(() => steps(last)).toEqual(['a to b'])
      await expectUnharmed(viewer, load)
      await gone
      await expect.poll(() => records(store)).toEqual([])
      await expect
        .poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')])
        .toEqual([1, 1])
    },
  )

  test('continues with streams through a node in the middle', async () => {
    const { store, site, viewer, load } = await watched([a, b, c], 'middle', 1)
    await expect.poll(() => steps(site)).toEqual(['a to b', 'b to c'])
    await site.abandon()
    const after = await RelaySite.open([a, b, c], 'middle', { store, isThere: true, fanOut: 1 })
    await expect.poll(() => steps(after)).toEqual(['a to b', 'b to c'])
    await expectUnharmed(viewer, load)
  })

  test.for([
    [
      'somebody publishes anew',
      async ({ ann, site }: Watched) => {
        await ann.leave()
        await (await site.join(a, 'ann')).publish(small)
      },
    ],
    [
      'the stream was removed from its room',
      async ({ site, feed }: Watched) => {
        await b.ask('videoroom', { request: 'kick', room: site.room, id: feed })
      },
    ],
    [
      'it was not up yet',
      async ({ store }: Watched) => {
        await store.transact([], (transaction) => {
          for (const [id, loop] of store.all('relay_loops')) transaction.put('relay_loops', id, { ...loop, up_at: 0 })
        })
      },
    ],
    [
      'its server restarted without rooms',
      async ({ site }: Watched) => {
        await b.restart()
        await openTestRoom(b, site.room)
      },
    ],
  ] as const)('hands on anew what does not flow any more: %s', async ([what, change]) => {
    const before = await watched([a, b], what)
    await before.site.abandon()
    await change(before)
    const after = await RelaySite.open([a, b], what, { store: before.store, isThere: true })
    const watch = after.relays.watch(what, 'ann', 'b')
    const bob = await after.join(b, 'bo')
    await bob.watch(await watch.feed(soon()))
    expect(steps(after)).toEqual(['a to b'])
    await expect
      .poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')])
      .toEqual([2, 2])
    await expect.poll(() => records(before.store)).toEqual(['ann a b'])
  })

  test('relays again streams subscribed in the name of unknown users: Janus stops those with them', async () => {
    const { store, site, feed, bob } = await watched([a, b], 'in whose name')
    await site.abandon()
    await store.transact([], (transaction) => {
      for (const id of store.all('relay_observers').keys()) transaction.delete('relay_observers', id)
    })
    const after = await RelaySite.open([a, b], 'in whose name', { store, isThere: true })
    await bob.until(feed, false)
    await bob.watch(await after.relays.watch('in whose name', 'ann', 'b').feed(soon()))
  })

  test('removes the remains of a stream that nobody publishes any more', async () => {
    const before = await watched([a, b], 'nobody')
    await before.site.abandon()
    await before.ann.leave()
    const after = await RelaySite.open([a, b], 'nobody', { store: before.store, isThere: true })
    await before.bob.until(before.feed, false)
    await expect.poll(() => records(before.store)).toEqual([])
    await expect
      .poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')])
      .toEqual([1, 1])
    await after.close()
    await expect.poll(() => before.store.all('relay_observers').size).toBe(0)
  })

  test('removes the remains of a room that is on only one node by now', async () => {
    const before = await watched([a, b], 'moved')
    await before.site.abandon()
    await before.store.transact([], (transaction) => {
      transaction.put('rooms', 'moved', storedRoom('moved', { node: 'a' }))
      transaction.put('rooms', 'other', storedRoom('other', { node: 'a', branches: ['b'] }))
    })
    await RelaySite.open([a, b], 'other', { store: before.store })
    await before.bob.until(before.feed, false)
    await expect
      .poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')])
      .toEqual([1, 1])
    expect(records(before.store)).toEqual([])
  })
})

test('the connection to a node is cut: its relays continue in both directions', async () => {
  const { store, site, bob, feed, viewer, load } = await watched([a, b], 'cut')
  let left = false
  const gone = bob.until(feed, false).then(() => {
    left = true
  })
  for (const node of site.nodes) {
    await node.cut()
    await expect.poll(() => steps(site)).toEqual(['a to b'])
  }
  await expectUnharmed(viewer, load)
  expect([left, records(store)]).toEqual([false, ['ann a b']])
  await expect.poll(async () => [await a.handles('roomdesk-relay'), await b.handles('roomdesk-relay')]).toEqual([2, 2])
  site.relays.place('cut', [])
  await gone
  await expect.poll(() => records(store)).toEqual([])
})
