import { describe, expect, test } from 'vitest'
import { h264PictureSize } from '../../../../server/media/rtsp/resolution.ts'
import { isPadding, isRtcp, sequenceDistance, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { LayeredPeer, layerLines, type SentPicture } from '../../../support/media/layered-peer.ts'

import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { WhipPeer } from '../../../support/media/whip-peer.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode()

/** A publisher of a picture in several layers, and a viewer. */
class Scene {
  readonly ann: LayeredPeer
  readonly bob: SignalClient
  readonly seen: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #viewer: WhepPeer | undefined

  private constructor(ann: LayeredPeer, bob: SignalClient) {
    this.ann = ann
    this.bob = bob
  }

  static async open(room: string, rids: readonly string[], pictures: readonly SentPicture[]): Promise<Scene> {
    await node().openRoom(room)
    const token = node().token(room, { userId: 'ann' })
    const ann = await LayeredPeer.open(`${node().url}/whip/${room}`, token, rids)
    const scene = new Scene(ann, await SignalClient.join(node().url, room, { token: node().token(room) }))
    scene.sends(...pictures)
    const url = `${node().url}/whep/${room}/ann`
    scene.#viewer = await WhepPeer.open(url, scene.bob.joined.session, (message) => {
      if (!isRtcp(message)) scene.seen.push(Buffer.from(message))
    })
    return scene
  }

  /** Sends these pictures forty times a second; every tenth is a key frame if they have a size. */
  sends(...pictures: readonly SentPicture[]): void {
    clearInterval(this.#timer)
    let count = 0
    this.#timer = setInterval(() => {
      for (const { key, ...picture } of pictures) {
        this.ann.send(count % 10 === 0 && key !== undefined ? { ...picture, key } : picture)
      }
      count += 1
    }, 25)
  }

  shows(height: number): void {
    this.bob.send({ type: 'shown', streams: [{ stream_id: 'ann', height }] })
  }

  /** Streams of the latest pictures, identified by their last byte. */
  get streams(): number[] {
    const pictures = this.seen.filter((packet) => ((packet[20] ?? 0) & 0x1f) !== 7)
    return [...new Set(pictures.slice(-8).map((packet) => packet[21] ?? -1))]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#viewer?.close()
    await this.ann.close()
    this.bob.drop()
  }
}

/** Three layers, each with its rid, as a browser sends them. */
const large = { ssrc: 0x101, rid: 'h', key: { height: 704 } }
const middle = { ssrc: 0x102, rid: 'm', key: { height: 352 } }
const small = { ssrc: 0x103, rid: 'l', key: { height: 176 } }

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `r${i}`)

describe('the answer to an offer with several layers', () => {
  const answerTo = async (lines: string): Promise<string> => {
    await node().openRoom('answers')
    const offer = offerSdp({ direction: 'sendonly' }).replace('a=mid:0\r\n', (line) => line + lines)
    const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${node().token('answers')}` }
    const response = await fetch(`${node().url}/whip/answers`, { method: 'POST', headers, body: offer })
    expect(response.status).toBe(201)
    return await response.text()
  }

  test('accepts them, and the header extension that identifies them', async () => {
    const answer = await answerTo(layerLines(['l', 'm', 'h']))
    expect(answer).toContain('a=simulcast:recv l;m;h\r\n')
    for (const rid of ['l', 'm', 'h']) expect(answer).toContain(`a=rid:${rid} recv\r\n`)
    expect(answer).toMatch(/a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\n/)
  })

  test('accepts three of fifty', async () => {
    expect(await answerTo(layerLines(names(50)))).toContain('a=simulcast:recv r0;r1;r2\r\n')
  })

  test.each([
    [
      'a rid without its own line',
      'a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\na=rid:l send\r\na=simulcast:send l;m\r\n',
    ],
    ['no extension that identifies them', layerLines(['l', 'm']).replace(/a=extmap.*\r\n/, '')],
    ['invalid rids', layerLines(['"', 'x'.repeat(40)])],
    ['layers to receive', layerLines(['l', 'm']).replaceAll(' send', ' recv').replace(':send', ':recv')],
  ])('with %s takes one stream', async (_what, lines) => {
    const answer = await answerTo(lines)
    expect(answer).not.toMatch(/a=simulcast|a=rid/)
    expect(answer).toContain('a=recvonly')
  })
})

test("padding of a publisher's bandwidth probe is not forwarded, and viewers see no gap", async () => {
  await node().openRoom('padded')
  const how = { padding: 3, audio: false }
  const ann = await WhipPeer.open(`${node().url}/whip/padded`, node().token('padded', { userId: 'ann' }), how)
  const seen: Buffer[] = []
  const bob = await SignalClient.join(node().url, 'padded', { token: node().token('padded') })
  const viewer = await WhepPeer.open(`${node().url}/whep/padded/ann`, bob.joined.session, (message) => {
    if (!isRtcp(message)) seen.push(Buffer.from(message))
  })
  await expect.poll(() => seen.length).toBeGreaterThan(20)
  expect(seen.every((packet) => !isPadding(packet))).toBe(true)
  const steps = seen.slice(1).map((packet, i) => sequenceDistance(sequenceOf(seen[i] ?? packet), sequenceOf(packet)))
  expect(new Set(steps)).toEqual(new Set([1]))
  await viewer.close()
  await ann.close()
  bob.drop()
})

test('lost padding is not part of a picture: no key frame is requested, and viewers wait for nothing', async () => {
  await node().openRoom('padding-lost')
  const how = { padding: 3, losesPadding: 0.2, audio: false }
  const ann = await WhipPeer.open(
    `${node().url}/whip/padding-lost`,
    node().token('padding-lost', { userId: 'ann' }),
    how,
  )
  const seen = new Set<number>()
  let padding = 0
  const bob = await SignalClient.join(node().url, 'padding-lost', { token: node().token('padding-lost') })
  const viewer = await WhepPeer.open(`${node().url}/whep/padding-lost/ann`, bob.joined.session, (message) => {
    if (isRtcp(message)) return
    seen.add(sequenceOf(message))
    if (isPadding(message)) padding += 1
  })
  // A new viewer requests a key frame.
  await expect.poll(() => seen.size).toBeGreaterThan(10)
  const { asked } = ann
  await expect.poll(() => padding).toBeGreaterThan(20)
  // Longer than the node waits for a lost packet.
  await expect.poll(() => seen.size).toBeGreaterThan(120)
  expect(ann.asked).toBe(asked)
  const [first = 0] = seen
  const settled = [...seen].map((number) => sequenceDistance(first, number)).filter((ahead) => ahead < 80)
  expect(settled.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, ahead) => ahead))
  await viewer.close()
  await ann.close()
  bob.drop()
})

describe.concurrent('a publisher with several layers', () => {
  test('is forwarded in the displayed size, in one stream without a gap; each layer gets its own reports and requests', async ({
    expect,
  }) => {
    await using scene = await Scene.open('sizes', ['l', 'm', 'h'], [small, middle, large])
    await expect.poll(() => scene.streams).toEqual([0x01])
    scene.shows(180)
    await expect.poll(() => scene.streams).toEqual([0x03])
    scene.shows(360)
    await expect.poll(() => scene.streams).toEqual([0x02])
    expect(scene.ann.asked).toEqual(expect.arrayContaining([0x102, 0x103]))
    await expect.poll(() => [...scene.ann.reported].toSorted((a, b) => a - b)).toEqual([0x101, 0x102, 0x103])
    // Drops its upper layers, as a browser does on a small link, and adds them again.
    scene.shows(1_080)
    await expect.poll(() => scene.streams).toEqual([0x01])
    scene.sends(small)
    await expect.poll(() => scene.streams).toEqual([0x03])
    scene.sends(small, middle, large)
    await expect.poll(() => scene.streams).toEqual([0x01])
    const steps = scene.seen
      .slice(1)
      .map((packet, i) => sequenceDistance(sequenceOf(scene.seen[i] ?? packet), sequenceOf(packet)))
    expect(new Set(steps)).toEqual(new Set([1]))
    const times = scene.seen
      .slice(1)
      .map((packet, i) => (timestampOf(packet) - timestampOf(scene.seen[i] ?? packet)) | 0)
    expect(Math.min(...times)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...times)).toBeLessThan(2 * 90_000)
    // Each layer begins with a key frame.
    const sizes = scene.seen.flatMap((packet) => h264PictureSize(packet)?.height ?? [])
    expect(new Set(sizes)).toEqual(new Set([704, 176, 352]))
  })

  test('may send fewer layers than announced', async ({ expect }) => {
    await using scene = await Scene.open('fewer', ['l', 'm', 'h'], [middle])
    await expect.poll(() => scene.streams).toEqual([0x02])
    scene.shows(180)
    expect(await node().stream('fewer', 'ann')).toMatchObject({ video_codec: 'H264', viewers: 1 })
  })

  test('is ignored for layers that it did not announce, and packets without a rid', async ({ expect }) => {
    const others = Array.from({ length: 40 }, (_, i) => ({ ssrc: 0x200 + i, rid: `x${i}`, key: large.key }))
    const nameless = { ssrc: 0x301, key: large.key }
    await using scene = await Scene.open('others', ['l', 'm'], [...others, nameless, middle])
    await expect.poll(() => scene.seen.length).toBeGreaterThan(40)
    expect(scene.streams).toEqual([0x02])
    expect(scene.seen.every((packet) => [0x02].includes(packet[21] ?? -1) || ((packet[20] ?? 0) & 0x1f) === 7)).toBe(
      true,
    )
    await expect.poll(() => [...scene.ann.reported]).toEqual([0x102])
  })

  test('may continue a layer under another SSRC, but not send it under two at once', async ({ expect }) => {
    const second = { ...middle, ssrc: 0x112 }
    await using scene = await Scene.open('twice', ['l', 'm'], [middle, second])
    await expect.poll(() => scene.seen.length).toBeGreaterThan(40)
    expect(scene.streams).toEqual([0x02])
    const before = scene.seen.length
    scene.sends(second)
    await expect.poll(() => scene.streams).toEqual([0x12])
    const numbers = scene.seen.slice(before).map(sequenceOf)
    expect(numbers.every((number, i) => i === 0 || sequenceDistance(numbers[i - 1] ?? 0, number) === 1)).toBe(true)
  })
})
