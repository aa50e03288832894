import { execFile } from 'node:child_process'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type RecordingsSite, recordingsSite } from '../../../support/recordings/recordings-site.ts'

const run = promisify(execFile)
const startedAt = Date.UTC(2026, 8, 21, 10)

async function fileOf(site: RecordingsSite, id: number): Promise<Buffer> {
  return await readFile(join(site.folder, site.index.segment(id)?.file ?? ''))
}

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer())
}

/** Codec and number of the pictures in some bytes. */
async function probed(site: RecordingsSite, bytes: Uint8Array): Promise<string> {
  const path = join(site.folder, 'probed')
  await writeFile(path, bytes)
  const shown = ['-count_frames', '-select_streams', 'v', '-show_entries', 'stream=codec_name,nb_read_frames']
  const { stdout } = await run('ffprobe', ['-v', 'error', ...shown, '-of', 'csv=p=0', path])
  return stdout.trim()
}

test('An operator downloads a segment, whole and in ranges', async () => {
  const site = await recordingsSite()
  const [id = 0] = await site.record({ startedAt })
  const file = await fileOf(site, id)
  const path = `/recordings/segments/${id}`

  const whole = await site.ask(`${path}?download`)
  expect(whole.status).toBe(200)
  expect(whole.headers.get('content-type')).toBe('video/mp4')
  expect(whole.headers.get('content-disposition')).toBe('attachment; filename="Camera-2026-09-21T100000Z.mp4"')
  expect(await bytesOf(whole)).toEqual(file)

  const ranges = [
    ['bytes=0-99', 0, 100],
    ['bytes=1000-', 1000, file.length],
    ['bytes=-10', file.length - 10, file.length],
    [`bytes=50-${file.length * 2}`, 50, file.length],
  ] as const
  for (const [header, from, to] of ranges) {
    const part = await site.ask(path, { Range: header })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${file.length}`)
    expect(await bytesOf(part)).toEqual(file.subarray(from, to))
  }
  for (const header of ['bytes=5-2', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6'])
    expect((await site.ask(path, { Range: header })).status).toBe(200)
  const outside = await site.ask(path, { Range: `bytes=${file.length}-` })
  expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${file.length}`])
})

test('A segment that a browser has cached is not sent again', async () => {
  const site = await recordingsSite()
  const [id = 0] = await site.record({ startedAt })
  const etag = (await site.ask(`/recordings/segments/${id}`)).headers.get('etag') ?? ''
  expect((await site.ask(`/recordings/segments/${id}`, { 'If-None-Match': etag })).status).toBe(304)
  for (const path of [id, `${id}/picture?at=0`])
    expect((await site.ask(`/recordings/segments/${path}`)).headers.get('cache-control')).toBe('no-store')
  const stale = await site.ask(`/recordings/segments/${id}`, { Range: 'bytes=0-9', 'If-Range': '"other"' })
  expect(stale.status).toBe(200)
})

test.each(['h264', 'vp8'] as const)('The player gets init and fragments of a span that play: %s', async (codec) => {
  const site = await recordingsSite()
  const [, id = 0] = await site.record({ startedAt, film: { codec } })
  const answer = await site.ask(`/recordings/segments/${id}/media?from=1.5&to=2.9`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(
    codec === 'vp8' ? /^video\/webm; codecs="vp/ : /^video\/mp4; codecs="avc1/,
  )
  expect(Number(answer.headers.get('recording-from'))).toBeCloseTo(1, 1)
  expect(Number(answer.headers.get('recording-to'))).toBeCloseTo(3, 1)
  expect(await probed(site, await bytesOf(answer))).toBe(`${codec},50`)

  const behind = await site.ask(`/recordings/segments/${id}/media?from=99`)
  expect([behind.status, behind.headers.get('recording-growing')]).toEqual([204, '0'])
})

test('A segment that is still written is served up to its last fragment', async () => {
  const site = await recordingsSite()
  const [id = 0] = await site.record({ startedAt })
  const segment = site.index.segment(id)
  if (segment === undefined) throw new Error('nothing was recorded')
  await rename(join(site.folder, segment.file), join(site.folder, `${segment.file}.part`))
  const open = site.index.addOpen({ ...segment, userId: 'live' })
  const answer = await site.ask(`/recordings/segments/${open}/media?from=0`)
  expect([answer.status, answer.headers.get('recording-growing')]).toEqual([200, '1'])
  expect(await probed(site, await bytesOf(answer))).toBe('h264,100')
  expect((await site.ask(`/recordings/segments/${open}`)).headers.get('etag')).toBeNull()
})

test.each(['h264', 'h265', 'vp8'] as const)(
  'A thumbnail is a film of the key frame before a moment: %s',
  async (codec) => {
    const site = await recordingsSite()
    const [, id = 0] = await site.record({ startedAt, film: { codec } })
    const answer = await site.ask(`/recordings/segments/${id}/picture?at=2.5`)
    expect(answer.headers.get('content-type')).toBe(codec === 'vp8' ? 'video/webm' : 'video/mp4')
    const at = Number(answer.headers.get('recording-picture-at'))
    expect((at - startedAt) / 1_000).toBeCloseTo(6, 1)
    const film = await bytesOf(answer)
    expect(await probed(site, film)).toBe(`${codec === 'h265' ? 'hevc' : codec},1`)
  },
)

/** Times of the pictures of a file as ffprobe reads them, in milliseconds. */
async function pictureTimes(path: string): Promise<number[]> {
  const asked = ['-select_streams', 'v', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path]
  const { stdout } = await run('ffprobe', ['-v', 'error', ...asked])
  return stdout
    .trim()
    .split('\n')
    .map((line) => Math.round(Number.parseFloat(line) * 1_000))
}

test.each([
  ['h264', 25],
  ['h265', 25],
  ['vp8', 25],
  ['h264', 2],
  ['vp8', 2],
] as const)(
  'The times of the pictures around a moment are those that ffprobe reads: %s, %i a second',
  async (codec, fps) => {
    const site = await recordingsSite()
    const film = { codec, fps, gop: fps }
    const [, id = 0] = await site.record({ startedAt, film, segmentSeconds: 5 })
    const path = join(site.folder, site.index.segment(id)?.file ?? '')
    const all = await pictureTimes(path)
    const around = async (at: number): Promise<number[]> => {
      const answer = await site.ask(`/recordings/segments/${id}/pictures?at=${at}`)
      const { times } = (await answer.json()) as { times: number[] }
      return times.map((time) => Math.round(time * 1_000))
    }
    const between = (from: number, to: number): number[] => all.filter((time) => time >= from - 5 && time < to - 5)
    expect(await around(0)).toEqual(between(0, 2_000))
    expect(await around(2.5)).toEqual(between(1_000, 4_000))
    expect(await around(99)).toEqual(between(3_000, 5_000))
    const nobody = await site.ask(`/recordings/segments/${id}/pictures?at=1`, {}, { scoped: false })
    expect([nobody.status, (await site.ask(`/recordings/segments/${id}/pictures`)).status]).toEqual([403, 404])
  },
)

test('Viewers see cameras and no people, and a token needs the scope', async () => {
  const site = await recordingsSite()
  const [camera = 0] = await site.record({ startedAt, userId: 'camera' })
  const [person = 0] = await site.record({ startedAt, userId: 'person', device: false })
  const status = async (id: number, caller: object): Promise<number> =>
    (await site.ask(`/recordings/segments/${id}`, {}, caller)).status
  expect(await status(camera, { role: 'viewer' })).toBe(200)
  expect(await status(person, { role: 'viewer' })).toBe(404)
  expect(await status(person, { role: 'operator' })).toBe(200)
  expect(await status(camera, { scoped: false })).toBe(403)
  expect(site.watched.map(({ caller, stream }) => [caller.role, stream.userId])).toEqual([
    ['viewer', 'camera'],
    ['operator', 'person'],
  ])
})

test('Watching is logged once per stream, with the watched moment', async () => {
  const site = await recordingsSite()
  const ids = await site.record({ startedAt })
  for (const id of ids) await bytesOf(await site.ask(`/recordings/segments/${id}/media?from=2`))
  expect(site.watched).toHaveLength(1)
  expect(site.watched[0]).toMatchObject({ userName: 'Camera', at: startedAt + 2_000, caller: { account: 'olivia' } })
})

test('Only ids of the index lead to files', async () => {
  const site = await recordingsSite()
  const [id = 0] = await site.record({ startedAt })
  await writeFile(join(site.folder, 'secret'), 'secret')
  const paths = [
    'segments/secret',
    'segments/..%2fsecret',
    'segments/%2e%2e/secret',
    'secret',
    'segments/-1',
    'segments/99',
    `segments/${id}/media/x`,
    `segments/${id}/nothing`,
    `segments/${id}/media?from=x`,
  ]
  for (const path of paths) expect((await site.ask(`/recordings/${path}`)).status).toBe(404)
  await rm(join(site.folder, site.index.segment(id)?.file ?? ''))
  expect((await site.ask(`/recordings/segments/${id}`)).status).toBe(410)
})

test('A slow client cannot keep all files open', async () => {
  const site = await recordingsSite()
  const [id = 0] = await site.record({ startedAt })
  const slow = await Promise.all(Array.from({ length: 32 }, () => site.ask(`/recordings/segments/${id}`)))
  expect(slow.every(({ status }) => status === 200)).toBe(true)
  const refused = await site.ask(`/recordings/segments/${id}`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await site.ask(`/recordings/segments/${id}`, {}, { account: 'other' })).status).toBe(200)
  await slow[0]?.body?.cancel()
  expect((await site.ask(`/recordings/segments/${id}`)).status).toBe(200)
})

test.each([
  ['whole files', 8],
  ['one fragment after another', 0.05],
])(
  'A player that asks for what follows gets every byte once, also sound that is written after the last picture: %s',
  async (_, seconds) => {
    const site = await recordingsSite()
    // With these groups of pictures, the last sounds of each segment are a fragment of their own; in the last segment, they end before its last picture.
    const ids = await site.record({ startedAt, film: { codec: 'h264', gop: 50 } })
    for (const id of ids) {
      const listed = (await (await site.ask(`/recordings/segments/${id}/fragments`)).json()) as {
        init: { bytes: number }
        fragments: { bytes: number; pictures: number }[]
      }
      expect(listed.fragments.at(-1)?.pictures).toBe(0)
      let [from, bytes] = [0, 0]
      for (let asked = 0; asked < 10; asked++) {
        const answer = await site.ask(`/recordings/segments/${id}/media?from=${from}&to=${from + seconds}`)
        if (answer.status === 204) break
        bytes += (await answer.arrayBuffer()).byteLength - listed.init.bytes
        from = Number(answer.headers.get('recording-to')) + 0.002
      }
      expect(bytes).toBe(listed.fragments.reduce((sum, fragment) => sum + fragment.bytes, 0))
    }
  },
)
