import { describe, expect, test } from 'vitest'
import { isRtcp, sequenceDistance, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { startPacedCamera } from '../../../support/camera/paced-camera.ts'

import { SignalClient } from '../../../support/media/signal-client.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { WhipPeer } from '../../../support/media/whip-peer.ts'
import { shared, sharedMediaNode } from '../../../support/fixtures.ts'
import { quietTime } from '../../../support/quiet-time.ts'

const node = sharedMediaNode()
const camera = shared(() => startPacedCamera({ packets: 2, everyMs: 40, gop: 250 }))

/** A user who watches one stream. */
class Watcher {
  readonly signal: SignalClient
  readonly #peer: WhepPeer
  readonly #received: Buffer[]

  private constructor(signal: SignalClient, peer: WhepPeer, received: Buffer[]) {
    this.signal = signal
    this.#peer = peer
    this.#received = received
  }

  static async open(signal: SignalClient, streamId: string): Promise<Watcher> {
    const received: Buffer[] = []
    const url = `${node().url}/whep/${signal.joined.room.room_id}/${streamId}`
    const peer = await WhepPeer.open(url, signal.joined.session, (message) => {
      if (!isRtcp(message)) received.push(Buffer.from(message))
    })
    return new Watcher(signal, peer, received)
  }

  #of(payloadType: number): Buffer[] {
    return this.#received.filter((packet) => ((packet[1] ?? 0) & 0x7f) === payloadType)
  }

  get video(): Buffer[] {
    return this.#of(102)
  }

  get audio(): Buffer[] {
    return this.#of(111)
  }

  /** Reports the displayed height of the stream, and waits until the node has read it. */
  async shows(streamId: string, height: number): Promise<void> {
    this.signal.forget()
    this.signal.send({ type: 'shown', streams: [{ stream_id: streamId, height }] })
    this.signal.send({ type: 'ping', id: 1 })
    await this.signal.next('pong')
  }

  async more(kind: 'video' | 'audio', count: number): Promise<void> {
    const from = this[kind].length
    await expect.poll(() => this[kind].length, { timeout: 10_000 }).toBeGreaterThan(from + count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#peer.close()
    this.signal.drop()
  }
}

const join = async (room: string): Promise<SignalClient> =>
  await SignalClient.join(node().url, room, { token: node().token(room) })

/** NAL unit types of packets with a header extension of 8 bytes. */
const nalType = (packet: Buffer | undefined): number => (packet?.[20] ?? 0) & 0x1f
const keyFrame = 5
/** Parameter sets of the description, ahead of a key frame. */
const parameterSets = 24

/** Expects consecutive sequence numbers, and timestamps that never go back. */
function expectUnbroken(seen: readonly Buffer[]): void {
  const pairs = seen.slice(1).map((packet, i) => [seen[i] ?? packet, packet] as const)
  expect(new Set(pairs.map(([one, next]) => sequenceDistance(sequenceOf(one), sequenceOf(next))))).toEqual(new Set([1]))
  expect(Math.min(...pairs.map(([one, next]) => (timestampOf(next) - timestampOf(one)) | 0))).toBeGreaterThanOrEqual(0)
}

describe('a stream that a page does not show', () => {
  test('sends sound only, and a key frame is requested when it is shown again', async () => {
    await node().openRoom('people')
    const ann = await WhipPeer.open(`${node().url}/whip/people`, node().token('people', { userId: 'ann' }))
    await using bob = await Watcher.open(await join('people'), 'ann')
    await bob.more('video', 10)
    await bob.shows('ann', 0)
    // Packets in flight arrive.
    await bob.more('audio', 5)
    const before = bob.video.length
    const asked = ann.asked
    await bob.more('audio', 25)
    expect(bob.video.length).toBe(before)
    expect(ann.asked).toBe(asked)
    await bob.shows('ann', 360)
    await bob.more('video', 10)
    expect(nalType(bob.video[before])).toBe(keyFrame)
    expectUnbroken(bob.video)
    await ann.close()
  })

  test('resumes at once with the camera’s whole picture, whenever its next key frame comes', async () => {
    await node().openRoom('camera')
    await node().addDevice('camera', 'cam', camera().url)
    await using bob = await Watcher.open(await join('camera'), 'cam')
    await bob.more('video', 10)
    await bob.shows('cam', 0)
    // Packets in flight arrive.
    await quietTime(300)
    const before = bob.video.length
    await quietTime(200)
    expect(bob.video.length).toBe(before)
    await bob.shows('cam', 720)
    await expect.poll(() => bob.video.length, { timeout: 2_000 }).toBeGreaterThan(before + 20)
    expect(nalType(bob.video[before])).toBe(parameterSets)
    expect(nalType(bob.video[before + 1])).toBe(keyFrame)
    expectUnbroken(bob.video)
  })

  test('is not sent to a page that reported this before watching, until the page withdraws it', async () => {
    await node().openRoom('before')
    const ann = await WhipPeer.open(`${node().url}/whip/before`, node().token('before', { userId: 'ann' }))
    const signal = await join('before')
    signal.send({ type: 'shown', streams: [{ stream_id: 'ann', height: 0 }] })
    await using bob = await Watcher.open(signal, 'ann')
    await bob.more('audio', 10)
    expect(bob.video).toEqual([])
    signal.send({ type: 'shown', streams: [] })
    await bob.more('video', 10)
    expect(nalType(bob.video[0])).toBe(keyFrame)
    await ann.close()
  })

  test('costs no more if a page hides and shows it all the time', async () => {
    await node().openRoom('flicker')
    await node().addDevice('flicker', 'cam', camera().url)
    await using bob = await Watcher.open(await join('flicker'), 'cam')
    await bob.more('video', 40)
    const before = bob.video.filter((packet) => nalType(packet) === keyFrame).length
    for (let i = 0; i < 20; i++) await bob.shows('cam', (i % 2) * 360)
    await bob.more('video', 40)
    // Each start has the camera's only key frame of two packets.
    const begun = (bob.video.filter((packet) => nalType(packet) === keyFrame).length - before) / 2
    expect(begun).toBeGreaterThanOrEqual(1)
    expect(begun).toBeLessThanOrEqual(3)
    expectUnbroken(bob.video)
  })

  test.each([
    ['a negative height', [{ stream_id: 'a', height: -1 }]],
    ['half a pixel', [{ stream_id: 'a', height: 0.5 }]],
    ['a height beyond any screen', [{ stream_id: 'a', height: 1_000_000 }]],
    ['too many streams', Array.from({ length: 300 }, (_, i) => ({ stream_id: `${i}`, height: 1 }))],
    ['no stream', [{ stream_id: '', height: 1 }]],
  ])('is not said with %s', async (_, streams) => {
    await node().openRoom('wrong')
    const signal = await join('wrong')
    signal.send({ type: 'shown', streams })
    expect(await signal.next('error')).toMatchObject({ reason: 'badRequest' })
    signal.drop()
  })
})
