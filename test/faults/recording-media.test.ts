import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import type { Windows } from '../support/chromium.ts'
import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { publish } from '../support/media/streams.ts'
import { beeps, flashes } from '../support/recordings/lip-sync.ts'
import { decodeRecorded, readRecorded } from '../support/recordings/recorded-file.ts'
import { RecordingNode } from '../support/recordings/recording-node.ts'

/** Recordings of cameras and people that take long: what is in their files after many seconds of media. */

// Long timeouts for browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let camera: Camera
let browser: Windows
let recording: RecordingNode
beforeAll(async () => {
  ;[camera, browser, recording] = await Promise.all([
    startCamera({ width: 320, height: 180, gop: 15 }),
    openMediaWindows(),
    RecordingNode.start({ settings: { transcoders: 0 } }),
  ])
})
afterAll(async () => {
  await Promise.all([camera.kill(), browser.close()])
  await recording[Symbol.asyncDispose]()
})

/** Longest time between two moments in a row, in seconds. */
function maxGap(moments: readonly number[]): number {
  return Math.max(...moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0)))
}

test('a user who sends layers is recorded in the largest one, with a key frame every few seconds', async () => {
  const { node } = recording
  await node.openRoom('layers')
  await recording.order('layers', { people: ['ann'] })
  const ann = await MediaPage.open(browser, node.url)
  await publish(ann, node, 'layers', node.token('layers', { userId: 'ann' }), { layered: true, codec: 'VP8' })
  await expect
    .poll(() => recording.events('layers'), { timeout: 60_000 })
    .toContainEqual(
      expect.objectContaining({ type: 'segmentBegan', segment: expect.objectContaining({ width: 1280, height: 720 }) }),
    )
  await recording.holds('layers', 9_000)
  const segments = await recording.finished('layers')
  await ann.page.close()
  const segment = segments.findLast(({ height }) => height === 720) ?? expect.fail('no large segment')
  expect(segment).toMatchObject({
    container: 'webm',
    videoCodec: 'vp8',
    audioCodec: 'opus',
    device: false,
    source: 'main',
  })
  const file = await readRecorded(recording.path(segment))
  expect(file).toMatchObject({ codecs: ['vp8', 'opus'], width: 1280, height: 720 })
  await decodeRecorded(recording.path(segment))
  expect(maxGap(file.pictures.filter(({ key }) => key).map(({ at }) => at))).toBeLessThan(6)
  expect(maxGap(file.sounds.map(({ at }) => at))).toBeLessThan(0.1)
})

test('a user who switches the microphone off is recorded as silent; a muted picture is not recorded', async () => {
  const { node } = recording
  await node.openRoom('mute', { hostPassword: 'secret' })
  const host = await SignalClient.join(node.url, 'mute', { host_password: 'secret' })
  const person = await SignalClient.join(node.url, 'mute', { token: node.token('mute', { userId: 'ann' }) })
  await recording.order('mute', { everything: true })
  const latest = (): unknown => recording.events('mute').findLast(({ type }) => type === 'segmentBegan')
  const page = await MediaPage.open(browser, node.url)
  await publish(page, node, 'mute', person.joined.session, { small: true, codec: 'VP8' })
  await expect.poll(latest, { timeout: 60_000 }).toMatchObject({ segment: { videoCodec: 'vp8', audioCodec: 'opus' } })
  await recording.holds('mute', 2_000)
  host.send({ type: 'mute', user_id: 'ann', kind: 'audio' })
  await recording.holds('mute', 7_000)
  person.send({ type: 'state', audio: true, video: true })
  await recording.holds('mute', 8_000)
  host.send({ type: 'mute', user_id: 'ann', kind: 'video' })
  await expect
    .poll(latest, { timeout: 20_000 })
    .toMatchObject({ segment: { videoCodec: '', audioCodec: 'opus', container: 'mp4' } })
  await recording.holds('mute', 3_000)
  person.send({ type: 'state', audio: true, video: true })
  await expect.poll(latest, { timeout: 20_000 }).toMatchObject({ segment: { videoCodec: 'vp8', audioCodec: 'opus' } })
  await recording.holds('mute', 2_000)
  const segments = await recording.finished('mute')
  for (const segment of segments) {
    const file = await readRecorded(recording.path(segment))
    await decodeRecorded(recording.path(segment))
    expect(maxGap(file.sounds.map(({ at }) => at))).toBeLessThan(0.1)
  }
  // On a busy machine the first picture may come long after the first sound.
  const seen = segments.findIndex(({ videoCodec }) => videoCodec === 'vp8')
  const muted = segments.findIndex(({ videoCodec }, index) => index > seen && videoCodec === '')
  expect(segments[muted - 1]?.end).toBe('track')
  expect(segments[muted]?.end).toBe('track')
  await page.page.close()
  for (const client of [host, person]) client.drop()
})

/** Time from the tick of the camera to its flash, in seconds: what GStreamer gives to its encoders. */
const tickToFlash = 0.303

test.each([
  ['Opus', '/sync', 0],
  ['MP2, which is converted', '/syncmp2', 1],
  ['MP3, which is converted', '/syncmp3', 1],
])(
  'flash and beep of a camera with %s stay together, though its pictures come half a second later',
  async (_sound, stream, transcoders) => {
    await using recording = await RecordingNode.start({ settings: { transcoders } })
    await recording.node.openRoom('sync')
    await recording.order('sync', { cameras: [{ userId: 'cam', quality: 'main' }] })
    await recording.node.addDevice('sync', 'cam', camera.url(stream))
    await recording.holds('sync', 8_000)
    const segments = await recording.finished('sync')
    const path = recording.path(segments.at(-1) ?? expect.fail('no segment'))
    const [seen, heard] = [await flashes(path), await beeps(path)]
    expect(seen.length).toBeGreaterThan(3)
    const off = seen
      .flatMap((flash) => heard.map((beep) => flash - beep - tickToFlash))
      .filter((apart) => Math.abs(apart) < 0.4)
    expect(off.length).toBeGreaterThan(3)
    expect(Math.max(...off.map(Math.abs)), JSON.stringify({ seen, heard })).toBeLessThan(0.04)
  },
)
