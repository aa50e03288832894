import { describe, expect, test } from 'vitest'
import { isRtcp, sequenceDistance, sequenceOf, ssrcOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import {
  eachClockPoint,
  estimatedBitrate,
  negativeAcknowledgement,
  receiverReport,
} from '../../../../server/media/rtp/rtcp.ts'
import { startPacedCamera } from '../../../support/camera/paced-camera.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { shared } from '../../../support/fixtures.ts'

const node = shared(() => TestMediaNode.start())
const large = shared(() => startPacedCamera({ packets: 8, everyMs: 40, gop: 15, bytes: 1_000 }))
const small = shared(() => startPacedCamera({ packets: 2, everyMs: 40, gop: 15, bytes: 500 }))

/** A viewer that reports link conditions chosen by the test. */
class Watcher {
  readonly signal: SignalClient
  readonly #peer: WhepPeer
  readonly seen: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #bitrate = 0
  /** Delay of packets in the link's queue, in milliseconds. */
  queueMs = 0
  /** Sender reports received. */
  answered = 0

  private constructor(signal: SignalClient, peer: WhepPeer, seen: Buffer[]) {
    this.signal = signal
    this.#peer = peer
    this.seen = seen
  }

  static async open(room: string): Promise<Watcher> {
    const signal = await SignalClient.join(node().url, room, { token: node().token(room) })
    const seen: Buffer[] = []
    let report = (_message: Buffer): void => {}
    const peer = await WhepPeer.open(`${node().url}/whep/${room}/cam`, signal.joined.session, (message) => {
      if (isRtcp(message)) report(message)
      else seen.push(Buffer.from(message))
    })
    const watcher = new Watcher(signal, peer, seen)
    report = (message) => watcher.answer(message)
    return watcher
  }

  /** Answers sender reports, with the delay of the queue. */
  answer(message: Buffer): void {
    eachClockPoint(message, (ssrc, { middle }) => {
      const block = { ssrc, fractionLost: 0, lost: 0, highest: 0, jitter: 0, lastReport: middle, delay: 0 }
      setTimeout(() => {
        this.#peer.send(receiverReport(block))
        this.answered += 1
      }, this.queueMs)
    })
  }

  /** Reports four times a second an estimate that changes by a factor each time, and whether the last packets were lost. */
  says(bitrate: number, factor: number, missing: boolean): void {
    clearInterval(this.#timer)
    this.#bitrate = bitrate
    const ssrc = ssrcOf(this.seen[0] ?? Buffer.alloc(12))
    this.#timer = setInterval(() => {
      this.#bitrate *= factor
      this.#peer.send(Buffer.concat([empty, estimatedBitrate(ssrc, this.#bitrate)]))
      const last = [...new Set(this.seen.slice(-40).map(sequenceOf))].toSorted((a, b) => sequenceDistance(b, a))
      if (missing) this.#peer.send(negativeAcknowledgement(ssrc, last))
    }, 250)
  }

  async sent(size: 'full' | 'small' | 'key_frames', withinMs = 10_000): Promise<void> {
    await this.signal.next((message) => message.type === 'stream_size' && message.size === size, withinMs)
    this.signal.forget()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#peer.close()
    this.signal.drop()
  }
}

const empty = receiverReport({ ssrc: 1, fractionLost: 0, lost: 0, highest: 0, jitter: 0, lastReport: 0, delay: 0 })
/** Payload sizes that identify the source of a packet: padding holds only a number. */
const largeBytes = 1_000 + 8
const smallBytes = 500 + 8
const paddingBytes = 20 + 255

/** Expects consecutive sequence numbers, and timestamps that never go back. */
function expectUnbroken(received: readonly Buffer[]): void {
  // Two packets sent together may arrive out of order, as on every network.
  const seen = received.toSorted((one, other) => sequenceDistance(sequenceOf(other), sequenceOf(one)))
  const steps = seen.slice(1).map((packet, i) => sequenceDistance(sequenceOf(seen[i] ?? packet), sequenceOf(packet)))
  expect(new Set(steps)).toEqual(new Set([1]))
  const times = seen.slice(1).map((packet, i) => (timestampOf(packet) - timestampOf(seen[i] ?? packet)) | 0)
  expect(Math.min(...times)).toBeGreaterThanOrEqual(0)
  // Pictures are less than two seconds apart: the streams' clocks are unrelated.
  expect(Math.max(...times)).toBeLessThan(2 * 90_000)
}

describe.concurrent('a viewer whose link is too small', () => {
  test('gets the camera’s substream, and the main stream again once the link has the capacity', {
    timeout: 40_000,
  }, async ({ expect }) => {
    await node().openRoom('two')
    await node().addDevice('two', 'cam', large().url, { assistAddress: small().url })
    await using watcher = await Watcher.open('two')
    const pulls = async (): Promise<number> => (await node().request('health', {})).pulls
    expect(await pulls()).toBeLessThanOrEqual(2)
    await expect.poll(() => watcher.answered, { timeout: 5_000 }).toBeGreaterThan(0)
    watcher.says(1_000_000, 0.9, true)
    watcher.queueMs = 250
    await watcher.sent('small')
    await expect.poll(() => watcher.seen.slice(-10).every(({ length }) => length === smallBytes)).toBe(true)
    watcher.says(400_000, 1.03, false)
    // While the queue is long there is no probe, whatever the viewer estimates.
    const { answered } = watcher
    await expect.poll(() => watcher.answered, { timeout: 10_000 }).toBe(answered + 4)
    expect(watcher.seen.some(({ length }) => length === paddingBytes)).toBe(false)
    watcher.queueMs = 0
    await watcher.sent('full', 20_000)
    await expect.poll(() => watcher.seen.slice(-10).every(({ length }) => length === largeBytes)).toBe(true)
    // The link was probed with padding only.
    expect(watcher.seen.some(({ length }) => length === paddingBytes)).toBe(true)
    const others = watcher.seen.filter(({ length }) => ![largeBytes, smallBytes, paddingBytes].includes(length))
    // Parameter sets of the description, ahead of key frames.
    expect(others.every((packet) => ((packet[20] ?? 0) & 0x1f) === 24)).toBe(true)
    expectUnbroken(watcher.seen)
  })

  test('gets only key frames if there is no substream', { timeout: 40_000 }, async ({ expect }) => {
    await node().openRoom('one')
    await node().addDevice('one', 'cam', large().url)
    await using watcher = await Watcher.open('one')
    watcher.says(1_000_000, 0.9, true)
    await watcher.sent('key_frames')
    watcher.says(400_000, 0.99, false)
    const from = watcher.seen.length
    await expect.poll(() => watcher.seen.length, { timeout: 10_000 }).toBeGreaterThan(from + 16)
    const media = watcher.seen.slice(from + 8).filter(({ length }) => length === largeBytes)
    // NAL unit types of key frames only.
    expect(new Set(media.map((packet) => (packet[20] ?? 0) & 0x1f))).toEqual(new Set([5]))
    expectUnbroken(watcher.seen)
  })
})
