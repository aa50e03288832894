import { dropped } from '../../../../server/media/base/traffic.ts'
import { FeedOverflows } from '../../../../server/media/rooms/feed-overflows.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { Sink } from '../../../../server/media/feeds/fan-out.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'

const video = { codec: 'VP8', profileLevelId: '', parameterSets: '' } as const

// All feeds share the time of a turn: what an ended one has left is worked off before.
beforeEach(async () => {
  for (let turns = 0; turns < 100; turns++) await turn()
})

/** Makes a viewer that takes some time per packet. */
function slowViewer(ms: number): { sink: Sink; seen: number[] } {
  const seen: number[] = []
  const sink: Sink = {
    video: (_, sequence) => {
      for (const end = performance.now() + ms; performance.now() < end; );
      seen.push(sequence)
    },
    audio: () => {},
    report: () => {},
    ended: () => {},
    failed: (error) => {
      throw error
    },
  }
  return { sink, seen }
}

function packetOf(sequence: number): Buffer {
  const packet = Buffer.alloc(20)
  packet[0] = 0x80
  packet.writeUInt16BE(sequence, 2)
  return packet
}

test('a picture for a crowd yields to other work; every viewer gets all packets, in order', async () => {
  const feed = new Feed({ video, audio: undefined, cached: false, requestKeyFrame: () => {} })
  const crowd = Array.from({ length: 20 }, () => slowViewer(0.25))
  for (const { sink } of crowd) feed.add(sink)
  const numbers = Array.from({ length: 8 }, (_, index) => index + 1)
  for (const number of numbers) feed.pushVideo(packetOf(number))
  expect(crowd[0]?.seen).toEqual([1])
  await turn()
  expect(crowd[0]?.seen).toEqual([1, 2])
  await expect.poll(() => crowd.map(({ seen }) => seen)).toEqual(crowd.map(() => numbers))
  feed.end()
})

test('a feed with few viewers does not wait behind the crowd of another', async () => {
  const [crowded, quiet] = [0, 1].map(
    () => new Feed({ video, audio: undefined, cached: false, requestKeyFrame: () => {} }),
  ) as [Feed, Feed]
  const crowd = Array.from({ length: 20 }, () => slowViewer(0.25))
  for (const { sink } of crowd) crowded.add(sink)
  const one = slowViewer(0)
  quiet.add(one.sink)
  for (let number = 1; number <= 8; number++) crowded.pushVideo(packetOf(number))
  expect(crowd[0]?.seen).toEqual([1])
  quiet.pushVideo(packetOf(1))
  expect(one.seen).toEqual([1])
  await expect.poll(() => crowd[0]?.seen).toHaveLength(8)
  for (const feed of [crowded, quiet]) feed.end()
})

test('packets beyond the queue limit are counted, and a key frame is requested once for each overflow', async () => {
  let requests = 0
  const feed = new Feed({ video, audio: undefined, cached: false, requestKeyFrame: () => (requests += 1) })
  const crowd = Array.from({ length: 20 }, () => slowViewer(0.25))
  for (const { sink } of crowd) feed.add(sink)
  const before = dropped.viewers
  for (let number = 1; number <= 5_000; number++) feed.pushVideo(packetOf(number))
  expect([feed.counts.dropped, dropped.viewers - before, requests]).toEqual([903, 903, 1])
  const logged: string[] = []
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (_: string, detail = '') => logged.push(detail),
  }
  const rooms = [{ config: { roomId: 'hall' }, streams: new Map([['s', { feed, view: { stream_id: 's' } }]]) }]
  const overflows = new FeedOverflows(log)
  overflows.look(rooms)
  overflows.look(rooms)
  expect(logged).toEqual(['room hall, stream s, 903 packets so far'])
  await turn()
  feed.pushVideo(packetOf(5_001))
  for (let number = 5_002; number <= 6_000; number++) feed.pushVideo(packetOf(number))
  expect(requests).toBe(2)
  overflows.look(rooms)
  expect(logged).toHaveLength(1)
  feed.end()
})

test('an unreadable packet that is found late is reported to its source with the next packet', async () => {
  const feed = new Feed({ video, audio: undefined, cached: false, requestKeyFrame: () => {} })
  for (let i = 0; i < 20; i++) feed.add(slowViewer(0).sink)
  feed.pushVideo(Buffer.alloc(3))
  await turn()
  expect(() => feed.pushVideo(packetOf(1))).toThrow(RangeError)
  feed.end()
})
