import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import { folderHolds } from '../../support/recordings/written-media.ts'
import { type FilmedSite, filmedSite, shortFilm } from '../../support/sites/filmed-site.ts'

/** Links to media open what they name, as long as their maker, their room and their stream are there. */

vi.setConfig({ testTimeout: 120_000 })

async function liveLink(site: FilmedSite, client = site.client): Promise<string> {
  const answer = await client.get('/rtc/live/link', { room_id: site.roomId, user_id: 'door', ttl: '600' })
  expect(answer).toMatchObject({ ret: 0 })
  return String(answer.hls_url)
}

async function playlist(url: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const answer = await fetch(url)
      expect(answer.status).toBe(200)
      return await answer.text()
    },
    { timeout: 60_000, interval: 200 },
  )
}

interface ListedPart {
  url: string
  offset: number
  bytes: number
}

/** Byte ranges of a playlist, with the init of each segment. */
function partsOf(text: string, base: string): ListedPart[] {
  const maps = [...text.matchAll(/#EXT-X-MAP:URI="([^"]+)",BYTERANGE="(\d+)@(\d+)"/g)]
  const parts = [...text.matchAll(/#EXT-X-BYTERANGE:(\d+)@(\d+)\n(\S+)/g)]
  return [
    ...maps.map(([, name = '', bytes, offset]) => ({ name, bytes, offset })),
    ...parts.map(([, bytes, offset, name = '']) => ({ name, bytes, offset })),
  ].map(({ name, bytes, offset }) => ({ url: new URL(name, base).href, bytes: Number(bytes), offset: Number(offset) }))
}

async function read(url: string, range?: string, method = 'GET'): Promise<{ status: number; bytes: number }> {
  const answer = await fetch(url, { method, ...(range === undefined ? {} : { headers: { range } }) })
  return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength }
}

const rangeOf = ({ offset, bytes }: ListedPart): string => `bytes=${offset}-${offset + bytes - 1}`

test('A live link serves the files of its playlist, and no earlier recording', async () => {
  const site = await filmedSite({ door: shortFilm }, { segmentMs: 2_000 })
  const url = await liveLink(site)
  const text = await vi.waitFor(
    async () => {
      const found = await playlist(url)
      expect(found).toContain('#EXT-X-DISCONTINUITY\n')
      return found
    },
    { timeout: 60_000, interval: 300 },
  )
  for (const part of partsOf(text, url))
    expect(await read(part.url, rangeOf(part))).toEqual({ status: 206, bytes: part.bytes })

  // An hour ago the same stream was recorded, too.
  const [segment] = site.recorder.index.segments({ roomId: site.roomId, userId: 'door' })
  if (segment === undefined) throw new Error('nothing was recorded')
  const startedAt = Math.round(segment.startedAt) - 3_600_000
  const file = segmentPath(segment, startedAt, 'mp4')
  await mkdir(dirname(join(site.recorder.folder, file)), { recursive: true })
  await copyFile(join(site.recorder.folder, segment.file), join(site.recorder.folder, file))
  site.recorder.index.writer.began({ ...segment, file, startedAt })
  site.recorder.index.writer.ended({ ...segment, file, startedAt, endedAt: segment.endedAt - 3_600_000 })
  const past = new URL(`${startedAt}.mp4`, url).href
  for (const method of ['GET', 'HEAD']) {
    for (const range of [undefined, 'bytes=0-100', 'bytes=-100', 'bytes=0-'])
      expect([method, range, (await read(past, range, method)).status]).toEqual([method, range, 404])
  }
  // A listed file is read by the ranges of the playlist.
  const [first] = partsOf(text, url)
  if (first === undefined) throw new Error('nothing is listed')
  expect(await read(first.url)).toMatchObject({ status: 416 })
  expect(await read(first.url, 'bytes=900000000-')).toMatchObject({ status: 416 })
})

test('A link to a recorded span serves its fragments, and nothing else of their segment', async () => {
  const site = await filmedSite({ door: { ...shortFilm, gop: 5 } }, { segmentMs: 20_000 })
  const { client, roomId } = site
  const recording = await client.get('/rtc/recording/start', { room_id: roomId, user_id: 'door' })
  await folderHolds(site.recorder.folder, 7_000)
  await client.get('/rtc/recording/stop', { id: String(recording.id) })
  const [segment] = await vi.waitFor(
    () => {
      const found = site.recorder.index.segments({ roomId, userId: 'door' })
      expect(found).toHaveLength(1)
      return found
    },
    { timeout: 20_000 },
  )
  if (segment === undefined) throw new Error('nothing was recorded')
  const from = Math.round(segment.startedAt) + 4_500
  const wish = { room_id: roomId, user_id: 'door', from: String(from), to: String(from + 500) }
  const url = String((await client.get('/rtc/recording/link', wish)).hls_url)
  const parts = partsOf(await playlist(url), url)
  const [init, ...fragments] = parts
  if (init === undefined) throw new Error('nothing is listed')
  for (const part of parts) expect(await read(part.url, rangeOf(part))).toEqual({ status: 206, bytes: part.bytes })
  const listed = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  expect(listed).toBeLessThan(segment.bytes / 2)
  expect((await read(init.url)).status).toBe(416)
  expect((await read(init.url, 'bytes=0-')).bytes).toBeLessThanOrEqual(listed)
  const begin = Math.min(...fragments.map(({ offset }) => offset))
  const end = Math.max(...fragments.map(({ offset, bytes }) => offset + bytes))
  expect((await read(init.url, `bytes=${begin - 10}-${end}`)).status).toBe(416)
  expect((await read(init.url, `bytes=${end}-${end + 10}`)).status).toBe(416)
  expect((await read(init.url, `bytes=${begin}-`)).bytes).toBe(end - begin)
})

test('Links end with their room', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { client, roomId } = site
  const url = await liveLink(site)
  const live = await client.get('/rtc/live/start', { room_id: roomId, user_id: 'door' })
  for (const each of [url, String(live.hls_url)]) await playlist(each)
  await site.rooms.delete(roomId)
  for (const each of [url, String(live.hls_url)]) expect((await fetch(each)).status).toBe(404)
})

test('Links, live streams and recordings of a credential end when it is deleted or disabled', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { plainClient: client, roomId, credentials } = site
  const order = { room_id: roomId, user_id: 'door' }
  const url = await liveLink(site, client)
  const live = await client.get('/rtc/live/start', order)
  const recording = await client.get('/rtc/recording/start', order)
  const own = await liveLink(site)
  for (const each of [url, String(live.hls_url), own]) await playlist(each)
  await credentials.update('plain-access', { enabled: false })
  for (const each of [url, String(live.hls_url)]) expect((await fetch(each)).status).toBe(404)
  expect((await fetch(own)).status).toBe(200)
  const stateOf = async (path: string, id: unknown): Promise<unknown> =>
    (await site.client.get(path, { id: String(id) })).state
  await vi.waitFor(async () => expect(await stateOf('/rtc/live/get', live.id)).toBe('stopped'))
  await vi.waitFor(async () => expect(await stateOf('/rtc/recording/get', recording.id)).not.toBe('recording'))
  await credentials.update('plain-access', { enabled: true })
  for (const each of [url, String(live.hls_url)]) expect((await fetch(each)).status).toBe(404)
})

test('A client that guesses addresses is refused for a minute; users of valid links are not', async () => {
  const site = await filmedSite({ door: shortFilm })
  const url = await liveLink(site)
  await playlist(url)
  const guess = (n: number): string => url.replace(/\/live\/[^/]+/, `/live/${String(n).padStart(32, 'x')}`)
  const statuses = new Set<number>()
  for (let n = 0; n < 300; n++) statuses.add((await fetch(guess(n), { method: 'HEAD' })).status)
  expect([...statuses]).toEqual([404, 429])
  const refused = await fetch(guess(0))
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await fetch(url)).status).toBe(200)
  // Names of files below a good address are limited, too.
  const files = new Set<number>()
  for (let n = 0; n < 300; n++) files.add((await fetch(new URL(`${n}.mp4`, url), { method: 'HEAD' })).status)
  expect([...files]).toEqual([404, 429])
})

test('The use of a link is logged, once per address in an interval', async () => {
  const site = await filmedSite({ door: shortFilm })
  const url = await liveLink(site)
  for (let n = 0; n < 3; n++) await playlist(url)
  expect(site.events.filter(({ kind }) => kind === 'link.used')).toMatchObject([
    {
      room: site.roomId,
      actor: { type: 'holder', address: '127.0.0.1' },
      params: { link: 'live-link', user: 'Camera door', made_by: 'full-access' },
    },
  ])
})
