import { parseDeviceAddress } from '../../shared/device-address.ts'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { pictureLoss } from '../../server/media/rtp/rtcp.ts'
import { mediaMethods } from '../../shared/media/control.ts'
import type { StreamStats } from '../../shared/media/stream-stats.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { MediaPage, type Offering, type PeerStats, startBrowser } from '../support/media/browser.ts'
import { inPlaceOfFfmpeg } from '../support/media/in-place-of-ffmpeg.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'

let camera: Camera
let browser: Browser
let folder: string
let node: TestMediaNode
let page: MediaPage

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-transcode-'))
  ;[camera, browser] = await Promise.all([startCamera({ width: 320, height: 180, fps: 15, gop: 30 }), startBrowser()])
})
afterAll(async () => {
  await browser.close()
  await camera.kill()
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  await page.page.close()
  await node.stop()
})

async function start(options: Parameters<typeof TestMediaNode.start>[0] = {}): Promise<void> {
  node = await TestMediaNode.start(options)
  page = await MediaPage.open(browser, node.url)
  await node.openRoom('room', { maxVideo: 64, maxAudio: 64 })
}

async function joins(...mounts: string[]): Promise<void> {
  for (const mount of mounts) await node.addDevice('room', mount, camera.url(`/${mount}`))
}

async function watch(streamId: string, name = streamId, offering: Offering = {}) {
  const token = node.token('room', { role: 'observer' })
  return await page.call('watch', name, `${node.url}/whep/room/${streamId}`, token, offering)
}

async function seen(streamId: string, more = 30): Promise<PeerStats> {
  expect((await watch(streamId)).problem).toBeNull()
  return await page.decodes(streamId, more)
}

async function conversion(streamId: string): Promise<StreamStats['conversion'] | undefined> {
  return (await node.stream('room', streamId))?.conversion
}

async function used(): Promise<number> {
  return (await node.request('transcoding', {})).pictures.used
}

/** Lists the process ids of the ffmpegs that run for the node, from the system: this process is its controller. */
function ffmpegs(): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,comm=,ni='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, name] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? []
    return name === 'ffmpeg' && Number(parent) === process.pid ? [Number(pid)] : []
  })
}

function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z')
  } catch {
    return false
  }
}

describe('ffmpeg transcodes codecs that browsers lack', () => {
  test.each([
    ['h265', 'H.265'],
    ['jpeg', 'Motion JPEG'],
    ['bframes', 'H.264'],
    ['high10', 'H.264'],
    ['high422', 'H.264'],
    ['high444', 'H.264'],
    ['interlaced', 'H.264'],
  ])('the pictures of /%s', async (mount, from) => {
    await start()
    await joins(mount)
    expect(await node.stream('room', mount)).toMatchObject({ video_codec: 'H264', conversion: { from, state: 'idle' } })
    const { video } = await seen(mount, 45)
    // Motion JPEG in RTP has sides of whole blocks.
    expect([180, 184]).toContain(video?.height)
    await expect.poll(async () => await conversion(mount)).toEqual({ from, state: 'running', problem: '' })
  })

  test.each([
    ['aac', 'AAC'],
    ['latm', 'AAC'],
    ['g726', 'G.726-32'],
  ])('the sound of /%s is heard, and its pictures go on as they are', async (mount, from) => {
    await start()
    await joins(mount)
    expect((await watch(mount)).problem).toBeNull()
    await page.until(mount, ({ audio, video }) => (audio?.energy ?? 0) > 0.05 && (video?.framesDecoded ?? 0) > 15)
    expect(await conversion(mount)).toMatchObject({ from })
    expect(await node.request('transcoding', {})).toMatchObject({ pictures: { used: 0 }, sound: { used: 1 } })
  })

  test.each(['h265aac', 'jpegaac'])('pictures and sound of /%s, by one ffmpeg', async (mount) => {
    await start()
    await joins(mount)
    expect((await watch(mount)).problem).toBeNull()
    await page.until(mount, ({ audio, video }) => (audio?.energy ?? 0) > 0.05 && (video?.framesDecoded ?? 0) > 30)
    expect(ffmpegs()).toHaveLength(1)
  })

  test('a viewer who lost pictures gets a key frame at once, not only after two seconds', async () => {
    await start()
    await joins('h265')
    const keys: number[] = []
    let ssrc = 0
    const viewer = await WhepPeer.open(
      `${node.url}/whep/room/h265`,
      node.token('room', { role: 'observer' }),
      (packet) => {
        if (((packet[1] ?? 0) & 0x7f) === 102) ssrc = packet.readUInt32BE(8)
        // Each has its parameter sets (RFC 6184, section 5.2: type 7).
        if (((packet[1] ?? 0) & 0x7f) === 102 && ((packet[20] ?? 0) & 0x1f) === 7) keys.push(performance.now())
      },
    )
    const waits: number[] = []
    for (let round = 0; round < 3; round++) {
      const count = keys.length
      await expect.poll(() => keys.length).toBeGreaterThan(count)
      await new Promise((resolve) => setTimeout(resolve, 700))
      const asked = performance.now()
      viewer.send(pictureLoss(ssrc))
      await expect.poll(() => (keys.at(-1) ?? 0) > asked, { interval: 20 }).toBe(true)
      waits.push((keys.at(-1) ?? 0) - asked)
    }
    expect(Math.max(...waits)).toBeLessThan(900)
    await viewer.close()
  })
})

describe('one ffmpeg per camera, while somebody watches', () => {
  test('runs for any number of viewers, and ends some seconds after the last one', async () => {
    await start()
    await joins('h265')
    expect(ffmpegs()).toHaveLength(0)
    await seen('h265')
    await watch('h265', 'second')
    await page.decodes('second')
    const [pid = 0, ...others] = ffmpegs()
    expect(others).toEqual([])
    // Cameras without transcoding have priority.
    expect(Number(execFileSync('ps', ['-o', 'ni=', '-p', String(pid)], { encoding: 'utf8' }))).toBeGreaterThan(0)
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    expect(command).not.toContain('rtsp')
    expect(command).not.toContain(String(camera.port))
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('ROOMDESK')
    await page.call('close', 'h265', true)
    await page.call('close', 'second', true)
    await expect.poll(ffmpegs).toEqual([])
    expect(await conversion('h265')).toMatchObject({ state: 'idle' })
    // Once more.
    await watch('h265', 'again')
    await page.decodes('again')
  })

  test('a viewer over the limit is refused with the reason; the slot of a camera without viewers is reused', async () => {
    await start({ settings: { transcoders: 1 } })
    await joins('h265', 'jpeg')
    await seen('h265')
    expect(await used()).toBe(1)
    expect((await watch('jpeg')).problem).toMatchObject({ status: 503, reason: 'transcoders' })
    await page.call('close', 'h265', true)
    await seen('jpeg')
    expect(ffmpegs()).toHaveLength(1)
    expect(await conversion('h265')).toMatchObject({ state: 'idle' })
  })

  test('after switching transcoding off and on, cameras use the new mode as soon as they rejoin', async () => {
    await start({ settings: { transcoders: 0 } })
    await joins('h265')
    expect(await node.stream('room', 'h265')).toMatchObject({
      video_codec: 'H265',
      conversion: null,
      shortcomings: [{ kind: 'video', reason: 'h265' }],
    })
    await node.request('set_settings', mediaMethods.set_settings.params.parse({ transcoders: 2 }))
    await node.event((event) => event.type === 'deviceLost' && event.userId === 'h265')
    await joins('h265')
    expect(await node.stream('room', 'h265')).toMatchObject({ video_codec: 'H264' })
  })
})

describe('a browser without H.264', () => {
  const offering: Offering = { codec: 'VP8' }

  test.each(['cam', 'h265'])('sees /%s in VP8, and hears its sound', async (mount) => {
    await start()
    await joins(mount)
    expect((await watch(mount, mount, offering)).problem).toBeNull()
    const { video, audio } = await page.decodes(mount, 45)
    expect(video).toMatchObject({ height: 180 })
    expect(audio === undefined).toBe(mount === 'h265')
  })

  test('shares one conversion with others of its kind, beside viewers of the camera as it is', async () => {
    await start()
    await joins('cam')
    await seen('cam')
    expect(await used()).toBe(0)
    for (const name of ['first', 'second']) {
      expect((await watch('cam', name, offering)).problem).toBeNull()
      await page.decodes(name)
    }
    expect(await used()).toBe(1)
    const [pid = 0, ...others] = ffmpegs()
    expect(others).toEqual([])
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => ffmpegs().filter((each) => each !== pid)).toHaveLength(1)
    await page.decodes('first', 30)
    for (const name of ['first', 'second']) await page.call('close', name, true)
    await expect.poll(ffmpegs).toEqual([])
    expect((await watch('cam', 'again', offering)).problem).toBeNull()
    await page.decodes('again')
    await page.decodes('cam')
  })

  test('is refused with the reason where every transcoder is in use', async () => {
    await start({ settings: { transcoders: 1 } })
    await joins('cam', 'h265')
    await seen('h265')
    expect((await watch('cam', 'cam', offering)).problem).toMatchObject({ status: 503, reason: 'transcoders' })
  })
})

describe('a failing ffmpeg', () => {
  test('is restarted, and the camera stays in its room', async () => {
    await start()
    await joins('h265')
    await seen('h265')
    const [pid = 0] = ffmpegs()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => ffmpegs().filter((each) => each !== pid)).toHaveLength(1)
    await page.decodes('h265', 30)
    expect(await node.userIds('room')).toEqual(['h265'])
  })

  test('that hangs is ended and restarted', async () => {
    await start()
    await joins('h265')
    await seen('h265')
    const [pid = 0] = ffmpegs()
    process.kill(pid, 'SIGSTOP')
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false)
    await page.decodes('h265', 30)
  })

  test('that fails repeatedly is retried at growing intervals, and the console shows why', async () => {
    const count = join(folder, 'starts')
    const broken = await inPlaceOfFfmpeg(
      folder,
      'broken',
      `echo start >> ${count}; echo the decoder is broken >&2; exit 1`,
    )
    await start({ ffmpeg: broken })
    await joins('h265')
    expect((await watch('h265')).problem).toBeNull()
    await expect
      .poll(async () => await conversion('h265'))
      .toMatchObject({ state: 'failed', problem: expect.stringContaining('the decoder is broken') })
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    const starts = (await readFile(count, 'utf8')).trim().split('\n').length
    // At 0, 0.5, 1.5 and 3.5 s.
    expect(starts).toBeGreaterThanOrEqual(3)
    expect(starts).toBeLessThanOrEqual(5)
    expect(await node.userIds('room')).toEqual(['h265'])
  })

  test('that writes no media is ended', async () => {
    await start({ ffmpeg: await inPlaceOfFfmpeg(folder, 'noise', 'exec cat /dev/urandom') })
    await joins('h265')
    expect((await watch('h265')).problem).toBeNull()
    await expect.poll(async () => await conversion('h265')).toMatchObject({ state: 'failed' })
    expect(await node.request('health', {})).toMatchObject({ users: 1 })
  })

  test('does not outlive the node, whether stopped or killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await start()
      await joins('h265')
      await seen('h265')
      const [pid = 0] = ffmpegs()
      // Even a stopped process.
      if (signal === 'SIGKILL') process.kill(pid, 'SIGSTOP')
      node.child.kill(signal)
      await expect.poll(() => isRunning(pid)).toBe(false)
      if (signal === 'SIGTERM') await page.page.close()
    }
  })

  test('without ffmpeg a camera joins as before, and the node says how to install it', async () => {
    await start({ ffmpeg: '/nowhere/ffmpeg' })
    await joins('h265')
    expect(await node.stream('room', 'h265')).toMatchObject({ video_codec: 'H265', conversion: null })
    expect(await node.request('transcoding', {})).toMatchObject({ state: 'missing', install: 'apt install ffmpeg' })
    const { tracks } = await node.request('probe', { address: parseDeviceAddress(camera.url('/h265')) })
    expect(tracks).toMatchObject([{ way: 'needs_ffmpeg', reason: 'h265', carried: true }])
    await expect(joins('jpeg')).rejects.toMatchObject({ kind: 'noUsableTrack' })
  })
})
