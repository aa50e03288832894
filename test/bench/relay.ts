/**
 * A room on two Janus nodes: cost of a relay on each of them, cost of a viewer behind it, and time to the first picture. `npm run bench -- relay`. Viewers are real
 * WebRTC peers in this process; the measure is the processor time of the two nodes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Relays } from '../../server/nodes/janus/relay/relays.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'
import { openTestRoom, TestRelayNode } from '../support/janus/test-relay-node.ts'
import { RoomPeer, type RoomViewer } from '../support/janus/room-peers.ts'
import { processorMs } from './process-figures.ts'
import { report } from './table.ts'

const room = 'relayed'
const viewers = 16
const tries = 15
const measureMs = 8_000
/** A stream of 1 Mbit/s. */
const stream = { pictures: 25, packets: 5, bytes: 1_000, audio: false }
const soon = (): AbortSignal => AbortSignal.timeout(10_000)
const logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

/** Measures into the table; takes about a minute. */
export async function measureRelay(): Promise<void> {
  await using a = await startJanus()
  await using b = await startJanus()
  const nodes = [new TestRelayNode('a', a), new TestRelayNode('b', b)]
  const relays = new Relays({ logger, graceMs: 0 })
  await Promise.all([a, b].map((janus) => openTestRoom(janus, room)))
  const [ann, onA, onB] = [
    await RoomPeer.join(a, room, 'ann'),
    await RoomPeer.join(a, room, 'x'),
    await RoomPeer.join(b, room, 'y'),
  ]
  try {
    await ann.publish(stream)
    const alone = await usage(a, b)
    relays.place(room, nodes)
    await measureFirstPictures(relays, onB)
    const watch = relays.watch(room, 'ann', 'b')
    const feed = await watch.feed(soon())
    const relayed = await usage(a, b)
    // At the same time: other load on the machine affects both alike.
    const watched = await withViewers(onA, 'ann', () => withViewers(onB, feed, () => usage(a, b)))
    const cost = `${percent(relayed.a - alone.a)} of a core where it is published, ${percent(relayed.b - alone.b)} where it is watched`
    report('relay of 1 Mbit/s', cost, 'none', true)
    const [eachNear, eachFar] = [(watched.a - relayed.a) / viewers, (watched.b - relayed.b) / viewers]
    report('a viewer of 1 Mbit/s on the node of the publisher', `${percent(eachNear)} of a core`, 'none', true)
    const share = eachFar / eachNear
    report(
      'a viewer behind a relay',
      `${percent(eachFar)} of a core, ${share.toFixed(2)} of the one-node figure`,
      'at most 1.10',
      share <= 1.1,
    )
  } finally {
    relays.place(room, [])
    await relays.close()
    await Promise.all([...nodes.map((node) => node.close()), ...[ann, onA, onB].map((peer) => peer.leave())])
  }
}

/** Measures from the request to watch on the other node to the first key frame, while there is no relay yet. */
async function measureFirstPictures(relays: Relays, peer: RoomPeer): Promise<void> {
  const times: number[] = []
  for (let done = 0; done < tries; done += 1) {
    const began = performance.now()
    const watch = relays.watch(room, 'ann', 'b')
    const feed = await watch.feed(soon())
    const viewer = await peer.watch(feed)
    while (viewer.keyFrameAt === 0) await sleep(1)
    times.push(viewer.keyFrameAt - began)
    await viewer.close()
    watch.end()
    await peer.until(feed, false)
  }
  times.sort((one, other) => one - other)
  const [median = 0, slowest = 0] = [times[Math.floor(tries / 2)], times.at(-1)]
  report(
    'first picture from another node',
    `${Math.round(median)} ms (slowest of ${tries}: ${Math.round(slowest)} ms)`,
    'under 300 ms',
    median < 300,
  )
}

async function withViewers<T>(peer: RoomPeer, feed: string, measure: () => Promise<T>): Promise<T> {
  const all: RoomViewer[] = []
  try {
    for (let count = 0; count < viewers; count += 1) all.push(await peer.watch(feed))
    return await measure()
  } finally {
    await Promise.all(all.map((viewer) => viewer.close()))
  }
}

/** Measures the load of the two nodes over some seconds, as shares of a core. */
async function usage(a: JanusServer, b: JanusServer): Promise<{ a: number; b: number }> {
  await sleep(1_000)
  const read = (): Promise<[number, number]> => Promise.all([processorMs(a.pid), processorMs(b.pid)])
  const [before, began] = [await read(), performance.now()]
  await sleep(measureMs)
  const [after, took] = [await read(), performance.now() - began]
  return { a: (after[0] - before[0]) / took, b: (after[1] - before[1]) / took }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
