import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ControlResult } from '../../shared/media/control.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { inPlaceOfFfmpeg } from '../support/media/in-place-of-ffmpeg.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'

type Picture = NonNullable<ControlResult<'key_picture'>['picture']>

const mounts = ['h265', 'jpeg', 'bframes', 'high10'] as const

describe('a thumbnail of a camera that needs transcoding', () => {
  let camera: Camera
  let folder: string
  let node: TestMediaNode
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-stills-'))
    camera = await startCamera({ pattern: 'smpte', width: 480, height: 272, fps: 10, gop: 10 })
  })
  afterEach(async () => await node.stop())
  afterAll(async () => {
    await camera.kill()
    await rm(folder, { recursive: true })
  })

  async function start(streams: readonly string[], options: Parameters<typeof TestMediaNode.start>[0] = {}) {
    node = await TestMediaNode.start({ ...options, settings: { camera_answer_ms: 30_000, ...options.settings } })
    await node.openRoom('room', { maxVideo: 64 })
    for (const mount of streams) await node.addDevice('room', mount, camera.url(`/${mount}`))
  }
  async function keyPicture(streamId: string): Promise<Picture | null> {
    return (await node.request('key_picture', { roomId: 'room', streamId })).picture
  }
  /** Waits for its first one: the camera has to send a key frame before. */
  async function firstPicture(streamId: string): Promise<Picture> {
    let picture: Picture | null = null
    await expect.poll(async () => (picture = await keyPicture(streamId)), { timeout: 40_000 }).not.toBeNull()
    if (picture === null) throw new Error('there is none')
    return picture
  }
  /** Reads the colour of the decoded picture at a place; x and y from 0 to 1. */
  function colourAt({ frame, width, height }: Picture, x: number, y: number): number[] {
    const options = [
      '-loglevel',
      'error',
      '-f',
      'h264',
      '-i',
      'pipe:0',
      '-f',
      'rawvideo',
      '-pix_fmt',
      'rgb24',
      'pipe:1',
    ]
    const pixels = execFileSync('ffmpeg', options, { input: Buffer.from(frame, 'base64') })
    expect(pixels).toHaveLength(width * height * 3)
    const at = (Math.floor(y * height) * width + Math.floor(x * width)) * 3
    return [...pixels.subarray(at, at + 3)]
  }
  /** Expects green, red and blue of the camera's own test picture. */
  function expectBars(picture: Picture, name = ''): void {
    for (const [x, ...colour] of [
      [3.5 / 7, 0, 255, 0],
      [5.5 / 7, 255, 0, 0],
      [6.5 / 7, 0, 0, 255],
    ] as const) {
      const found = colourAt(picture, x, 1 / 3)
      const near = found.every((value, channel) => Math.abs(value - (colour[channel] ?? value)) < 48)
      expect(near, `${name}: ${found.join()} for ${colour.join()}`).toBe(true)
    }
  }
  const starts = async (log: string): Promise<string[]> => (await readFile(log, 'utf8')).trim().split('\n')

  test('exists without viewers, in its colours, made by one ffmpeg at a time that takes no slot of a viewer', async () => {
    const log = join(folder, 'one-at-a-time')
    const run = `echo start >> ${log}; ffmpeg "$@"; code=$?; echo end >> ${log}; exit $code`
    await start(mounts, { ffmpeg: await inPlaceOfFfmpeg(folder, 'logged', run), settings: { transcoders: 1 } })
    const asked = Date.now()
    const pictures = await Promise.all(mounts.map(firstPicture))
    expect(await node.request('transcoding', {})).toMatchObject({ pictures: { used: 0, limit: 1 } })
    for (const [index, picture] of pictures.entries()) {
      expect(picture.width, mounts[index]).toBe(320)
      expect(Math.abs(picture.height - (320 * 272) / 480)).toBeLessThanOrEqual(2)
      expect(Math.abs(picture.at - asked)).toBeLessThan(30_000)
      expectBars(picture, mounts[index])
    }
    const lines = await starts(log)
    expect(lines).toEqual(mounts.flatMap(() => ['start', 'end']))
    // Requests within a minute, or at the same time, get the same one.
    expect(await Promise.all([keyPicture('h265'), keyPicture('h265')])).toEqual([pictures[0], pictures[0]])
    expect(await starts(log)).toEqual(lines)
  })

  test('comes from the transcoded stream while somebody watches', async () => {
    const log = join(folder, 'watched')
    const run = `echo start >> ${log}; exec ffmpeg "$@"`
    await start(['h265'], { ffmpeg: await inPlaceOfFfmpeg(folder, 'watched-ffmpeg', run) })
    const viewer = await WhepPeer.open(`${node.url}/whep/room/h265`, node.token('room', { role: 'observer' }), () => {})
    const picture = await firstPicture('h265')
    expect([picture.width, picture.height]).toEqual([480, 272])
    await expect.poll(async () => ((await keyPicture('h265'))?.at ?? 0) > picture.at, { timeout: 10_000 }).toBe(true)
    expect(await starts(log)).toEqual(['start'])
    await viewer.close()
  })

  test('is correct if a viewer starts long after the last key frame, on which later pictures depend', async () => {
    const rare = await startCamera({ pattern: 'smpte', width: 320, height: 180, fps: 10, gop: 600 })
    try {
      await start([])
      await node.addDevice('room', 'rare', rare.url('/h265'))
      // It is stored as soon as there is one.
      await firstPicture('rare')
      const path = `${node.url}/whep/room/rare`
      const viewer = await WhepPeer.open(path, node.token('room', { role: 'observer' }), () => {})
      expectBars(await firstPicture('rare'), 'watched')
      await viewer.close()
    } finally {
      await rare.kill()
    }
  })

  test('that fails or times out leaves no process behind, and others are made', async () => {
    const log = join(folder, 'hangs')
    // The first ffmpeg outputs nothing.
    const run = `echo start >> ${log}; if [ ! -e ${log}.hung ]; then touch ${log}.hung; exec sleep 60; fi; exec ffmpeg "$@"`
    await start(['jpeg', 'h265'], { ffmpeg: await inPlaceOfFfmpeg(folder, 'hangs-once', run) })
    const jpeg = keyPicture('jpeg')
    await expect.poll(async () => await starts(log).catch(() => [])).toEqual(['start'])
    // It waits for its turn meanwhile.
    const h265 = firstPicture('h265')
    expect(await jpeg).toBeNull()
    expect(await h265).toMatchObject({ width: 320 })
    // No retry within a minute.
    expect(await keyPicture('jpeg')).toBeNull()
    expect(await starts(log)).toEqual(['start', 'start'])
    expect(await node.userIds('room')).toEqual(['jpeg', 'h265'])
  })

  test('is not made of an interlaced camera without viewers', async () => {
    await start(['interlaced', 'h265'])
    await firstPicture('h265')
    expect(await keyPicture('interlaced')).toBeNull()
  })

  test('is not made without ffmpeg', async () => {
    await start(['h265'], { ffmpeg: '/nowhere/ffmpeg' })
    expect(await keyPicture('h265')).toBeNull()
  })
})
