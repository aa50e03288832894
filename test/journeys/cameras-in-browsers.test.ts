import { parseDeviceAddress } from '../../shared/device-address.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'

import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { startLossyProxy } from '../support/media/lossy-proxy.ts'
import { NodeFailure, TestMediaNode } from '../support/media/media-node.ts'
import { shared } from '../support/fixtures.ts'

// Long timeouts for browsers and cameras on a busy machine.
vi.setConfig({ testTimeout: 45_000, hookTimeout: 45_000 })

const camera = shared(() => startCamera({ pattern: 'smpte' }))
const browser = shared(() => openMediaWindows())
const node = shared(() => TestMediaNode.start({ settings: { camera_stall_ms: 1_000, transcoders: 0 } }))

/** Opens a room for the running test, which ends with its cameras: other tests count what the node pulls. */
async function openRoom(roomId: string): Promise<void> {
  onTestFinished(async () => {
    await node().request('close_room', { roomId })
  })
  await node().openRoom(roomId)
}

async function watch(page: MediaPage, roomId: string, streamId: string, query = ''): Promise<void> {
  const token = node().token(roomId, { role: 'observer' })
  const answer = await page.call('watch', streamId, `${node().url}/whep/${roomId}/${streamId}${query}`, token, {})
  expect(answer.problem).toBeNull()
}

async function kindOf(attempt: Promise<unknown>): Promise<unknown> {
  const error = await attempt.then(
    () => 'none',
    (caught: unknown) => caught,
  )
  return error instanceof NodeFailure ? error.kind : error
}

/** Compares each component with a tolerance of 40: coding changes colours a little. */
function expectColours(actual: number[][], expected: number[][]): void {
  const near = actual.every((colour, index) =>
    colour.every((part, channel) => Math.abs(part - (expected[index]?.[channel] ?? 0)) <= 40),
  )
  expect(near ? 'as it should be' : actual).toBe('as it should be')
}

describe('a camera in a room', () => {
  test('is seen in its colours and heard in a browser', async () => {
    await openRoom('seen')
    await node().addDevice('seen', 'cam', camera().url('/cam'))
    await expect
      .poll(() => node().events)
      .toContainEqual({
        type: 'joined',
        roomId: 'seen',
        user: expect.objectContaining({ userId: 'cam', device: true, role: 'member' }),
      })
    const page = await MediaPage.open(browser(), node().url)
    await watch(page, 'seen', 'cam')
    const stats = await page.decodes('cam', 20)
    expect(stats.video?.height).toBe(360)
    expect((await page.until('cam', ({ audio }) => (audio?.energy ?? 0) > 0)).audio?.packets).toBeGreaterThan(10)
    expectColours(await page.colours('cam', [0.07, 0.3], [0.5, 0.3], [0.93, 0.3]), [
      [255, 255, 255],
      [0, 255, 0],
      [0, 0, 255],
    ])
    const reading = await node().stream('seen', 'cam')
    expect(reading).toMatchObject({ video_codec: 'H264', audio_codec: 'PCMU', viewers: 1 })
    expect(reading?.key_frames).toBeGreaterThan(0)
    expect(reading?.frames).toBeGreaterThan(15)
    await page.page.close()
  })

  test('is seen at once by a user who joins between two key frames', async () => {
    await using slow = await startCamera({ gop: 10_000 })
    await openRoom('late')
    await node().addDevice('late', 'cam', slow.url('/video'))
    const page = await MediaPage.open(browser(), node().url)
    for (let i = 0; i < 3; i++) {
      await watch(page, 'late', 'cam')
      const { firstFrameMs } = await page.until('cam', (stats) => stats.firstFrameMs > 0)
      expect(firstFrameMs).toBeGreaterThan(0)
      const { video } = await page.decodes('cam', 10)
      expect(video?.packetsLost).toBe(0)
      expect(await page.call('close', 'cam', true)).toBe(200)
    }
    // There was only one key frame all the time.
    expect((await node().stream('late', 'cam'))?.key_frames).toBe(1)
    await page.page.close()
  })

  test('is seen although its first packets are lost, and with them the only key frame', async () => {
    await using slow = await startCamera({ gop: 10_000 })
    await using remote = await TestMediaNode.start({ settings: { advertised: ['127.0.0.2'] } })
    await using proxy = await startLossyProxy(remote.udpPort, 0)
    await remote.openRoom('late')
    await remote.addDevice('late', 'cam', slow.url('/video'))
    const page = await MediaPage.open(browser(), remote.url)
    proxy.loseMedia = 10
    const token = remote.token('late', { role: 'observer' })
    const how = { addresses: 'never' } as const
    expect((await page.call('watch', 'cam', `${remote.url}/whep/late/cam`, token, how)).problem).toBeNull()
    await page.decodes('cam', 10)
    expect(proxy.loseMedia).toBe(0)
    await page.page.close()
  })

  test.each(['/pcma', '/opus'])('is heard with the sound of %s', async (path) => {
    await openRoom('sound')
    await node().addDevice('sound', 'cam', camera().url(path))
    const page = await MediaPage.open(browser(), node().url)
    await watch(page, 'sound', 'cam')
    await page.until('cam', ({ audio }) => (audio?.energy ?? 0) > 0)
    await page.page.close()
  })

  test('is seen if its parameter sets are in its description, or if it sends AAC', async () => {
    await using bare = await startCamera({ 'config-interval': 0 })
    await openRoom('bare')
    await node().addDevice('bare', 'bare', bare.url('/video'))
    await node().addDevice('bare', 'aac', bare.url('/aac'))
    const page = await MediaPage.open(browser(), node().url)
    await watch(page, 'bare', 'bare')
    await watch(page, 'bare', 'aac')
    await page.decodes('bare', 20)
    await page.decodes('aac', 20)
    expect((await node().stream('bare', 'aac'))?.audio_codec).toBe('')
    await page.page.close()
  })

  test('is recognised as sending B-frames, in its description and in its pictures', async () => {
    const probed = await node().request('probe', { address: parseDeviceAddress(camera().url('/bframes')) })
    expect(probed.tracks[0]?.detail).toMatch(
      /^H\.264 with B-frames: browsers show few of its pictures; .*ffmpeg.*, 640 × 360$/,
    )
    await openRoom('order')
    await node().addDevice('order', 'b', camera().url('/bframes'))
    await node().addDevice('order', 'plain', camera().url('/video'))
    await expect.poll(async () => (await node().stream('order', 'b'))?.b_frames).toBe(true)
    await expect.poll(async () => (await node().stream('order', 'plain'))?.frames).toBeGreaterThan(20)
    expect((await node().stream('order', 'plain'))?.b_frames).toBe(false)
  })

  test('is heard if it sends two videos and sound', async () => {
    await using fresh = await startCamera({ width: 320, height: 180 })
    await openRoom('two')
    await node().addDevice('two', 'cam', fresh.url('/two'))
    await expect.poll(async () => (await node().stream('two', 'cam'))?.audio_bytes).toBeGreaterThan(1_000)
    await expect.poll(async () => (await node().stream('two', 'cam'))?.frames).toBeGreaterThan(5)
  })

  test('is refused to a viewer without H.265 if it sends H.265', async () => {
    await openRoom('h265')
    await node().addDevice('h265', 'cam', camera().url('/h265'))
    const page = await MediaPage.open(browser(), node().url)
    const token = node().token('h265', { role: 'observer' })
    const answer = await page.call('watch', 'cam', `${node().url}/whep/h265/cam`, token, { codec: 'VP8' })
    expect(answer.problem).toMatchObject({ status: 406, reason: 'codec' })
    await page.page.close()
  })

  test('is pulled once if its address is spelled in two ways: scheme and host in capitals, or not', async () => {
    await openRoom('spelled')
    const before = (await node().request('health', {})).pulls
    await node().addDevice('spelled', 'small', camera().url('/video'))
    await node().addDevice('spelled', 'large', camera().url('/video').replace('rtsp:', 'RTSP:'))
    expect((await node().request('health', {})).pulls).toBe(before + 1)
  })

  test('is pulled once for two rooms, until both have removed it', async () => {
    await openRoom('one')
    await openRoom('two')
    const before = (await node().request('health', {})).pulls
    await Promise.all([
      node().addDevice('one', 'cam', camera().url('')),
      node().addDevice('two', 'cam', camera().url('')),
    ])
    await node().addDevice('one', 'again', camera().url(''))
    // Adding the same camera again makes no second user.
    await node().addDevice('one', 'cam', camera().url(''))
    expect(await node().userIds('one')).toEqual(['cam', 'again'])
    expect((await node().request('health', {})).pulls).toBe(before + 1)
    await node().request('close_room', { roomId: 'one' })
    const page = await MediaPage.open(browser(), node().url)
    await watch(page, 'two', 'cam')
    await page.decodes('cam')
    await node().request('remove_device', { roomId: 'two', userId: 'cam' })
    expect((await node().request('health', {})).pulls).toBe(before)
    expect(await node().stream('two', 'cam')).toBeUndefined()
    await page.page.close()
  })

  test('sends its substream to viewers that ask for it', async () => {
    await openRoom('small')
    await node().addDevice('small', 'cam', camera().url('/cam'), { assistAddress: camera().url('/small') })
    await node().addDevice('small', 'broken', camera().url('/cam'), { assistAddress: camera().url('/nothing') })
    const page = await MediaPage.open(browser(), node().url)
    const before = (await node().request('health', {})).pulls
    await watch(page, 'small', 'cam', '?size=small')
    expect((await page.decodes('cam')).video?.height).toBe(90)
    expect((await node().request('health', {})).pulls).toBe(before + 1)
    // The main stream serves if there is no substream.
    await watch(page, 'small', 'broken', '?size=small')
    expect((await page.decodes('broken')).video?.height).toBe(360)
    await page.call('close', 'cam', true)
    expect((await node().request('health', {})).pulls).toBe(before)
    await page.page.close()
  })

  test('sends the stream that fits the displayed height, from the first picture on and after changes', async () => {
    await openRoom('wall')
    await node().addDevice('wall', 'cam', camera().url('/cam'), { assistAddress: camera().url('/small') })
    const page = await MediaPage.open(browser(), node().url)
    const answered = page.page.waitForResponse(/height=90$/)
    await watch(page, 'wall', 'cam', '?height=90')
    const location = (await (await answered).headerValue('location')) ?? ''
    const session = location.slice(location.lastIndexOf('/') + 1)
    const first = (await page.decodes('cam', 1)).video?.height
    const is = async (height: number): Promise<void> => {
      await page.until('cam', ({ video }) => video?.height === height)
    }
    expect(first).toBe(90)
    expect(await node().request('show', { session, height: 300 })).toEqual({ there: true })
    await is(360)
    await node().request('show', { session, height: 90 })
    await is(90)
    // A little larger: stays small.
    await node().request('show', { session, height: 130 })
    expect((await page.decodes('cam', 20)).video?.height).toBe(90)
    // Starts with the large stream.
    await watch(page, 'wall', 'cam', '?height=360')
    expect((await page.decodes('cam')).video?.height).toBe(360)
    await page.page.close()
    expect(await node().request('show', { session: 'nobody', height: 90 })).toEqual({ there: false })
    const token = node().token('wall', { role: 'observer' })
    const odd = await fetch(`${node().url}/whep/wall/cam?height=-1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
      body: 'v=0',
    })
    expect(odd.status).toBe(400)
  })
})

describe('a camera that fails', () => {
  test('does not join, and gives the reason', async () => {
    await using locked = await startCamera({ auth: 'digest', password: 'se:cret' })
    await openRoom('fail')
    await node().openRoom('fail', { attendeeMax: 1 })
    expect(await kindOf(node().addDevice('fail', 'cam', camera().url('/nothing')))).toBe('notFound')
    expect(await kindOf(node().addDevice('fail', 'cam', camera().url('/jpeg')))).toBe('noUsableTrack')
    expect(await kindOf(node().addDevice('fail', 'cam', locked.url('/cam')))).toBe('auth')
    expect(await kindOf(node().addDevice('fail', 'cam', 'rtsp://127.0.0.1:1/x'))).toBe('refused')
    expect(await kindOf(node().addDevice('nowhere', 'cam', camera().url('/cam')))).toBe('nodeFailed')
    expect(await node().userIds('fail')).toEqual([])
    await node().addDevice('fail', 'cam', locked.url('/cam'), { login: { name: 'admin', password: 'se:cret' } })
    expect(await kindOf(node().addDevice('fail', 'more', camera().url('/cam')))).toBe('roomFull')
    await node().openRoom('fail', { attendeeMax: 9, locked: true })
    expect(await kindOf(node().addDevice('fail', 'more', camera().url('/cam')))).toBe('roomLocked')
    await node().openRoom('fail', { attendeeMax: 9, maxVideo: 1 })
    expect(await kindOf(node().addDevice('fail', 'more', camera().url('/cam')))).toBe('roomFull')
    const { pulls } = await node().request('health', {})
    await node().request('close_room', { roomId: 'fail' })
    expect((await node().request('health', {})).pulls).toBe(pulls - 1)
  })

  test('is reported as silent within the time that the caller has left', async () => {
    await using hanging = await startCamera()
    hanging.signal('SIGSTOP')
    await openRoom('hurry')
    const began = performance.now()
    expect(await kindOf(node().addDevice('hurry', 'cam', hanging.url('/cam'), {}, 300))).toBe('timeout')
    expect(performance.now() - began).toBeLessThan(2_000)
    hanging.signal('SIGCONT')
    await node().addDevice('hurry', 'cam', hanging.url('/cam'))
  })

  test('leaves nothing behind after the last attempt', async () => {
    await using hanging = await startCamera()
    hanging.signal('SIGSTOP')
    await openRoom('given-up')
    const abort = new AbortController()
    const device = { userId: 'cam', userName: '', address: parseDeviceAddress(hanging.url('/cam')) }
    const attempt = node().request('add_device', { roomId: 'given-up', device, leftMs: 4_000 }, abort.signal)
    abort.abort()
    await expect(attempt).rejects.toBe(abort.signal.reason)
    hanging.signal('SIGCONT')
    expect(await node().userIds('given-up')).toEqual([])
    await node().addDevice('given-up', 'cam', hanging.url('/cam'))
  })

  test.each([
    ['dies', 'closed'],
    ['hangs', 'stalled'],
  ] as const)('and %s is lost as %s; it can come again', async (how, kind) => {
    await using failing = await startCamera()
    await openRoom(how)
    await node().addDevice(how, 'cam', failing.url('/cam'))
    const page = await MediaPage.open(browser(), node().url)
    await watch(page, how, 'cam')
    await page.decodes('cam', 5)
    if (how === 'dies') await failing.kill()
    else failing.signal('SIGSTOP')
    const event = await node().event((each) => each.type === 'deviceLost' && each.roomId === how)
    expect(event).toMatchObject({ userId: 'cam', kind })
    expect(node().events.filter((each) => 'roomId' in each && each.roomId === how && each.type === 'left')).toEqual([])
    expect(await node().userIds(how)).toEqual([])
    // A watched stream does not return by itself: the session has ended.
    expect(await page.call('isOver', 'cam')).toBe(true)
    await page.page.close()
    await node().addDevice(how, 'cam', camera().url('/cam'))
    expect(await node().userIds(how)).toEqual(['cam'])
  })

  test('is distinguished from a working one by a probe', async () => {
    expect(await node().request('probe', { address: parseDeviceAddress(camera().url('/aac')) })).toMatchObject({
      ok: true,
      kind: null,
      tracks: [{ codec: 'H264', carried: true }, { carried: false }],
    })
    expect(await node().request('probe', { address: parseDeviceAddress(camera().url('/nothing')) })).toMatchObject({
      ok: false,
      kind: 'notFound',
    })
    const address = { ...parseDeviceAddress(camera().url('/aac')), port: 0 }
    await expect(node().request('probe', { address })).rejects.toThrow('port')
  })
})
