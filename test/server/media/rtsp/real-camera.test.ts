import { type CameraSource, parseDeviceAddress } from '../../../../shared/device-address.ts'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test as base } from 'vitest'
import { AllowedAddresses } from '../../../../server/media/rtsp/allowed-addresses.ts'
import type { CameraLogin } from '../../../../server/media/rtsp/authentication.ts'
import { probe } from '../../../../server/media/rtsp/rtsp-probe.ts'
import { RtspError } from '../../../../server/media/rtsp/rtsp-error.ts'
import { type RtspListener, type RtspOptions, RtspSession } from '../../../../server/media/rtsp/session.ts'
import { startCamera } from '../../../support/camera/camera.ts'
import { complaintLog } from '../../../support/media/complaints.ts'
import { disposed } from '../../../support/fixtures.ts'

const allowed = new AllowedAddresses({ networks: [], sitePorts: [], siteAddresses: [] })
const probing = { trustAnyCertificate: false, answerMs: 5_000, allowed, log: complaintLog() }
const never = new AbortController().signal
const quiet: RtspListener = { rtp: () => {}, rtcp: () => {}, ended: () => {} }

function options(address: string, more: Partial<RtspOptions> = {}): RtspOptions {
  return {
    address: parseDeviceAddress(address),
    login: undefined,
    transport: 'auto',
    trustAnyCertificate: false,
    answerMs: 5_000,
    stallMs: 5_000,
    log: complaintLog(),
    ...more,
  }
}

function source(address: string, login?: CameraLogin): CameraSource {
  return { address: parseDeviceAddress(address), login }
}

/** Plays until `packets` RTP packets of each track have arrived; returns the codecs. */
async function played(more: RtspOptions, packets = 5): Promise<string[]> {
  const enough = Promise.withResolvers<void>()
  const counts = new Map<string, number>()
  const session = new RtspSession(more, {
    rtp: ({ kind }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (session.tracks.every((track) => (counts.get(track.kind) ?? 0) >= packets)) enough.resolve()
    },
    rtcp: () => {},
    ended: enough.reject,
  })
  const tracks = await session.play(never)
  await enough.promise
  await session.close()
  return tracks.map(({ codec }) => codec)
}

async function kindOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  return error instanceof RtspError ? error.kind : String(error)
}

const test = base.extend('open', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await startCamera()),
)

describe('a real RTSP server', () => {
  test.for([
    ['/cam', ['H264', 'PCMU']],
    ['/pcma', ['H264', 'PCMA']],
    ['/opus', ['H264', 'OPUS']],
    // AAC is for recordings: no browser receives it as it is.
    ['/aac', ['H264', 'MPEG4-GENERIC']],
    ['/video', ['H264']],
    ['', ['H264', 'PCMU']],
    ['/h265', ['H265']],
  ] as const)('media of %s flows over TCP', async ([path, codecs], { open }) => {
    expect(await played(options(open.url(path)))).toEqual(codecs)
  })

  test('a UDP-only camera is played over UDP, and UDP can be forced', async ({ open }) => {
    expect(await played(options(open.url('/udp')))).toEqual(['H264'])
    expect(await played(options(open.url('/cam'), { transport: 'udp' }))).toEqual(['H264', 'PCMU'])
  })

  test('a wrong path is not found, and Motion JPEG has no usable track', async ({ open }) => {
    expect(await kindOf(played(options(open.url('/nothing'))))).toBe('notFound')
    expect(await kindOf(played(options(open.url('/jpeg'))))).toBe('noUsableTrack')
  })

  test('a probe lists codecs, resolution and unsupported tracks', async ({ open }) => {
    const result = await probe(source(open.url('/aac')), probing, never)
    expect(result).toMatchObject({
      ok: true,
      tracks: [
        { kind: 'video', codec: 'H264', carried: true },
        { kind: 'audio', codec: 'MPEG4-GENERIC', carried: false },
      ],
    })
    expect(result.tracks[0]?.detail).toContain('640 × 360')
    const h265 = await probe(source(open.url('/h265')), probing, never)
    expect(h265.tracks[0]?.detail).toContain('640 × 360')
  })

  test.each(['basic', 'digest'] as const)('%s: correct credentials play, wrong ones are refused', async (auth) => {
    const password = '密@:/?#%"\\码'
    await using camera = await startCamera({ auth, password })
    const url = camera.url('/video')
    const login = (text: string): { login: CameraLogin } => ({ login: { name: 'admin', password: text } })
    expect(await played(options(url, login(password)))).toEqual(['H264'])
    expect(await kindOf(played(options(url, login('wrong'))))).toBe('auth')
    expect(await kindOf(played(options(url)))).toBe('auth')
    expect(await probe(source(url, login('wrong').login), probing, never)).toMatchObject({ ok: false, kind: 'auth' })
  })

  test('RTSPS: a self-signed camera is refused unless the setting accepts it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'camera-tls-'))
    try {
      const [key, certificate, both] = ['key', 'cert', 'both'].map((name) => join(folder, `${name}.pem`))
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-keyout',
          String(key),
          '-out',
          String(certificate),
          '-days',
          '2',
          '-subj',
          '/CN=camera',
        ],
        { stdio: 'ignore' },
      )
      execFileSync('sh', ['-c', `cat "${certificate}" "${key}" > "${both}"`])
      await using camera = await startCamera({ tls: String(both), auth: 'digest' })
      const login = { name: 'admin', password: 'se:cret' }
      expect(await kindOf(played(options(camera.url('/cam'), { login })))).toBe('certificate')
      expect(await played(options(camera.url('/cam'), { login, trustAnyCertificate: true }))).toEqual(['H264', 'PCMU'])
      expect(await kindOf(played(options(camera.url('/cam').replace('rtsps', 'rtsp'))))).toMatch(/closed|protocol/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('a camera at an IPv6 address is played', async () => {
    await using camera = await startCamera({ host: '::1' })
    expect(await played(options(camera.url('/video')))).toEqual(['H264'])
  })

  test.concurrent('a UDP session of 3 s is kept alive past its timeout', async () => {
    await using camera = await startCamera({ timeout: 3 })
    const ended = Promise.withResolvers<RtspError>()
    const session = new RtspSession(options(camera.url('/udp'), { stallMs: 1_500 }), { ...quiet, ended: ended.resolve })
    await session.play(never)
    const timer = Promise.withResolvers<string>()
    setTimeout(() => timer.resolve('still playing'), 6_000)
    expect(await Promise.race([ended.promise, timer.promise])).toBe('still playing')
    await session.close()
  })

  test.concurrent('a killed camera closes at once; one that hangs has stalled after the limit', async () => {
    for (const [act, kind, limit] of [
      ['kill', 'closed', 500],
      ['stop', 'stalled', 2_500],
    ] as const) {
      await using camera = await startCamera()
      const ended = Promise.withResolvers<RtspError>()
      const session = new RtspSession(options(camera.url('/video'), { stallMs: 1_000 }), {
        ...quiet,
        ended: ended.resolve,
      })
      await session.play(never)
      const started = performance.now()
      if (act === 'kill') await camera.kill()
      else camera.signal('SIGSTOP')
      expect((await ended.promise).kind).toBe(kind)
      expect(performance.now() - started).toBeLessThan(limit)
    }
  })
})
