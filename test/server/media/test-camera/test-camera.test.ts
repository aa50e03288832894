import { describe, expect, test, vi } from 'vitest'
import { type OddDescription, oddDescriptions } from '../../../../shared/media/test-camera-behaviours.ts'
import { testCameraCodecs, testCameraSounds } from '../../../../shared/media/test-camera.ts'
import { playCamera } from '../../../support/camera/played-camera.ts'
import { startTestCamera } from '../../../support/camera/test-camera.ts'

const codecs = { h264: 'H264', h265: 'H265', mjpeg: 'JPEG' } as const
const sounds = { aac: 'MPEG4-GENERIC', opus: 'OPUS', pcma: 'PCMA', pcmu: 'PCMU' } as const

describe('pictures and sounds', () => {
  test.each(testCameraCodecs)('%s is played over TCP and UDP, in both sizes', async (codec) => {
    using camera = await startTestCamera({ codec })
    for (const transport of ['auto', 'udp'] as const) {
      for (const url of [camera.url, `${camera.url}/sub`]) {
        await using played = await playCamera(url, { transport })
        expect(played.tracks.map((track) => track.codec)).toEqual([codecs[codec]])
        await vi.waitFor(() => expect(played.pictures.length).toBeGreaterThan(3), 3_000)
      }
    }
    expect(camera.complaints).toEqual([])
  })

  test.each(testCameraSounds.filter((sound) => sound !== 'none'))('%s is played', async (sound) => {
    using camera = await startTestCamera({ sound })
    await using played = await playCamera(camera.url)
    expect(played.tracks.map((track) => track.codec)).toEqual(['H264', sounds[sound]])
    await vi.waitFor(() => expect(played.sounds).toBeGreaterThan(5), 3_000)
  })
})

describe('logins', () => {
  test.each(['basic', 'digest', 'digest-sha256'] as const)('%s admits the right login alone', async (auth) => {
    using camera = await startTestCamera({ auth })
    await using played = await playCamera(camera.url)
    expect(played.tracks).toHaveLength(1)
    const wrong = playCamera(camera.url, { login: { name: 'admin', password: 'wrong' } })
    await expect(wrong).rejects.toMatchObject({ kind: 'auth' })
    await expect(playCamera(camera.url, { login: undefined })).rejects.toMatchObject({ kind: 'auth' })
    expect(camera.camera.state.wrong_logins).toBe(1)
  })

  test('wrong-password rejects the right login', async () => {
    using camera = await startTestCamera({ auth: 'digest', behaviours: ['wrong-password'] })
    await expect(playCamera(camera.url)).rejects.toMatchObject({ kind: 'auth' })
  })

  test('lock-after refuses the right login after wrong ones', async () => {
    using camera = await startTestCamera({ auth: 'basic', behaviours: ['lock-after=2'] })
    for (const password of ['a', 'b'])
      await playCamera(camera.url, { login: { name: 'admin', password } }).catch(() => undefined)
    await expect(playCamera(camera.url)).rejects.toMatchObject({ status: 403 })
    expect(camera.camera.state.locked_until).toBeGreaterThan(Date.now())
  })
})

describe('behaviours', () => {
  test.each([
    ['not-found', { kind: 'notFound' }],
    ['slow-answers=4000', { kind: 'timeout' }],
  ] as const)('%s', async (behaviour, error) => {
    using camera = await startTestCamera({ behaviours: [behaviour] })
    await expect(playCamera(camera.url, { answerMs: 500 })).rejects.toMatchObject(error)
  })

  test.each([
    'redirect',
    'wrong-content-base',
    'no-options',
    'no-cseq',
    'tcp-only',
    'udp-only',
    'no-sets-in-description',
    'no-sets-in-stream',
    'start-codes',
    'stray-bytes=50',
  ])('%s leaves the camera playable', async (behaviour) => {
    using camera = await startTestCamera({ behaviours: [behaviour] })
    await using played = await playCamera(camera.url, { transport: behaviour === 'tcp-only' ? 'udp' : 'auto' })
    await vi.waitFor(() => expect(played.pictures.length).toBeGreaterThan(3), 3_000)
    const [client] = camera.camera.state.clients.filter(({ state }) => state === 'playing')
    expect(client?.transport).toBe(behaviour === 'udp-only' ? 'udp' : 'tcp')
    expect(camera.complaints).toEqual([])
  })

  test.each(oddDescriptions)('odd-description=%s leaves the picture playable', async (form: OddDescription) => {
    using camera = await startTestCamera({ sound: 'pcmu', behaviours: [`odd-description=${form}`] })
    await using played = await playCamera(camera.url)
    expect(played.tracks.map(({ kind }) => kind)).toContain('video')
  })

  test('stall ends the media and keeps the connection', async () => {
    using camera = await startTestCamera({ behaviours: ['stall=1'] })
    await using played = await playCamera(camera.url)
    await vi.waitFor(() => expect(camera.camera.state.clients[0]?.state).toBe('stalled'), 3_000)
    await vi.waitFor(() => expect(played.ended?.kind).toBe('stalled'), 4_000)
  })

  test('drop closes the connection', async () => {
    using camera = await startTestCamera({ behaviours: ['drop=1'] })
    await using played = await playCamera(camera.url)
    await vi.waitFor(() => expect(played.ended?.kind).toBe('closed'), 3_000)
  })

  test('ssrc-change, timestamp-jump and wrong-clock', async () => {
    using camera = await startTestCamera({ behaviours: ['ssrc-change=2', 'timestamp-jump=1', 'wrong-clock=-500'] })
    await using played = await playCamera(camera.url)
    await vi.waitFor(() => expect(new Set(played.pictures.map(({ ssrc }) => ssrc)).size).toBe(2), 5_000)
    const [first] = played.pictures
    const ofFirst = played.pictures.filter(({ ssrc }) => ssrc === first?.ssrc)
    const advance = ((ofFirst.at(-1)?.timestamp ?? 0) - (first?.timestamp ?? 0)) >>> 0
    expect(advance).toBeGreaterThan(600 * 90_000)
    expect(played.clocks[0]).toBeCloseTo(-500_000, -3)
  })

  test('size-change and sps-change send other parameter sets', async () => {
    for (const [codec, behaviour] of [
      ['h264', 'size-change=1'],
      ['h264', 'sps-change=1'],
      ['h265', 'sps-change=1'],
    ] as const) {
      using camera = await startTestCamera({ codec, behaviours: [behaviour] })
      const isSet = (head = 0): boolean => (codec === 'h264' ? (head & 0x1f) === 7 : head >> 1 === 33)
      await using played = await playCamera(camera.url)
      const sets = (): Set<string> =>
        new Set(
          played.pictures.filter(({ payload }) => isSet(payload[0])).map(({ payload }) => payload.toString('hex')),
        )
      await vi.waitFor(() => expect(sets().size).toBe(2), { timeout: 7_000, interval: 200 })
    }
  }, 30_000)

  test('no-key-frames withholds key frames, and no-marker the marker', async () => {
    using camera = await startTestCamera({ behaviours: ['no-key-frames=3', 'no-marker'] })
    await using played = await playCamera(camera.url)
    await vi.waitFor(() => expect(played.pictures.length).toBeGreaterThan(20), 4_000)
    expect(played.pictures.filter(({ payload }) => [5, 7, 28].includes((payload[0] ?? 0) & 0x1f))).toEqual([])
    expect(played.pictures.some(({ marker }) => marker)).toBe(false)
  })
})
