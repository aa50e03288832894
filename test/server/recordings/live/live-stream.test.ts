import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { LivePicture } from '../../../../shared/recordings/live-picture.ts'
import { decodeRecorded, readRecorded } from '../../../support/recordings/recorded-file.ts'
import { type FilmedSite, filmedSite, shortFilm } from '../../../support/sites/filmed-site.ts'
import { temporaryFolder } from '../../../support/sites/store-site.ts'

/** People and programs watch a camera live: HLS of the files that are being written, without transcoding. */

const run = promisify(execFile)
vi.setConfig({ testTimeout: 120_000 })

async function link(
  site: FilmedSite,
  userId: string,
): Promise<{ ret: number; hls_url: string; page_url: string; expires_at: number }> {
  const answer = await site.client.get('/rtc/live/link', { room_id: site.roomId, user_id: userId, ttl: 600 })
  expect(answer).toMatchObject({ ret: 0 })
  return answer as Awaited<ReturnType<typeof link>>
}

/** The playlist once there is one. */
async function playlist(url: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const answer = await fetch(url)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/vnd.apple.mpegurl'])
      return await answer.text()
    },
    { timeout: 60_000, interval: 200 },
  )
}

const valueOf = (text: string, tag: string): number => Number(new RegExp(`#EXT-X-${tag}:(\\d+)`).exec(text)?.[1])

test('A camera without a recording is recorded while it has viewers, and ffmpeg plays it across segments', async () => {
  const site = await filmedSite({ door: shortFilm }, { segmentMs: 4_000 })
  const { hls_url, expires_at } = await link(site, 'door')
  expect(expires_at).toBeGreaterThan(Date.now() + 590_000)
  expect(site.recorder.wanted.size).toBe(0)
  const first = await playlist(hls_url)
  expect([...site.recorder.wanted.values()]).toMatchObject([{ roomId: site.roomId, userId: 'door', windowMs: 90_000 }])
  expect(first).toMatch(/^#EXTM3U\n#EXT-X-VERSION:7\n/)
  expect(first).toContain('#EXT-X-PROGRAM-DATE-TIME:')
  await expect
    .poll(async () => await playlist(hls_url), { timeout: 60_000, interval: 500 })
    .toContain('#EXT-X-DISCONTINUITY\n')
  const { stdout } = await run(
    'ffmpeg',
    [
      '-v',
      'error',
      '-live_start_index',
      '0',
      '-i',
      hls_url,
      '-frames:v',
      '130',
      '-f',
      'null',
      '-progress',
      'pipe:1',
      '-',
    ],
    { timeout: 90_000 },
  )
  const frames = [...stdout.matchAll(/frame=(\d+)/g)].map(([, count]) => Number(count)).at(-1) ?? 0
  // The first segment has a hundred pictures.
  expect(frames).toBe(130)
  const later = await playlist(hls_url)
  expect(valueOf(later, 'MEDIA-SEQUENCE')).toBeGreaterThanOrEqual(valueOf(first, 'MEDIA-SEQUENCE'))
})

test('VP8, which HLS does not support, is reported in a sentence, and the page gets its segments', async () => {
  const site = await filmedSite({ door: { ...shortFilm, codec: 'vp8' } })
  const { hls_url, page_url } = await link(site, 'door')
  const facts = await vi.waitFor(
    async () => {
      const found = (await (await fetch(`${page_url}/stream.json`)).json()) as LivePicture
      expect(found.state).toBe('living')
      return found
    },
    { timeout: 60_000 },
  )
  expect(facts).toMatchObject({ container: 'webm', codecs: 'vp8,opus', name: 'Name of door', sound: true })
  const [fragment] = facts.fragments
  const { offset = 0, bytes = 0, segment = 0 } = fragment ?? {}
  const piece = await fetch(`${page_url}/${segment}.webm`, {
    headers: { range: `bytes=${offset}-${offset + bytes - 1}` },
  })
  expect([piece.status, (await piece.arrayBuffer()).byteLength]).toEqual([206, bytes])
  const refused = await fetch(hls_url)
  expect([refused.status, await refused.text()]).toEqual([415, expect.stringContaining('VP8')])
})

test('An address that was changed, has expired, or belongs to a stopped live stream shows nothing', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { page_url } = await link(site, 'door')
  const token = page_url.split('/').at(-1) ?? ''
  const base = page_url.slice(0, -token.length)
  const status = async (other: string): Promise<number> => (await fetch(`${base}${other}/index.m3u8`)).status
  const middle = Math.floor(token.length / 2)
  expect(await status(`${token.slice(0, middle)}${token[middle] === 'A' ? 'B' : 'A'}${token.slice(middle + 1)}`)).toBe(
    404,
  )
  expect(await status('x'.repeat(4_000))).toBe(404)
  expect(site.recorder.wanted.size).toBe(0)

  const live = await site.client.get('/rtc/live/start', { room_id: site.roomId, user_id: 'door', name: 'Door' })
  expect(live).toMatchObject({ ret: 0, state: 'waiting', name: 'Door' })
  await playlist(String(live.hls_url))
  expect(await site.client.get('/rtc/live/get', { id: String(live.id) })).toMatchObject({ state: 'living' })
  expect(await site.client.get('/rtc/live/stop', { id: String(live.id) })).toMatchObject({ ret: 0, state: 'stopped' })
  expect((await fetch(String(live.hls_url))).status).toBe(404)
  expect(await (await fetch(`${String(live.page_url)}/stream.json`)).json()).toMatchObject({ state: 'over' })
  expect(await site.client.get('/rtc/live/list', {})).toMatchObject({ total: 1 })
  expect(await site.client.get('/rtc/live/delete', { id: String(live.id) })).toMatchObject({ ret: 0 })
  expect(await site.client.get('/rtc/live/get', { id: String(live.id) })).toMatchObject({ ret: 430 })
})

test('A live stream of VP8 without sound has none, and one without a picture only sound', async () => {
  const site = await filmedSite({ door: { ...shortFilm, codec: 'vp8' } })
  const folder = await temporaryFolder()
  const kinds = async (order: Record<string, string>): Promise<{ named: string; sent: string[] }> => {
    const wish = { room_id: site.roomId, user_id: 'door', ...order }
    const page = String((await site.client.get('/rtc/live/start', wish)).page_url)
    const facts = await vi.waitFor(
      async () => {
        const found = (await (await fetch(`${page}/stream.json`)).json()) as LivePicture
        expect(found.state).toBe('living')
        return found
      },
      { timeout: 60_000 },
    )
    const { offset = 0, bytes = 0, segment = 0 } = facts.fragments.at(-1) ?? {}
    const read = async (range: string): Promise<Buffer> =>
      Buffer.from(await (await fetch(`${page}/${segment}.webm`, { headers: { range } })).arrayBuffer())
    // The stream is young: all of the segment is in the window.
    const whole = await read('bytes=0-')
    // Places hold: what is hidden is sent as zeros.
    const part = await read(`bytes=${offset}-${offset + bytes - 1}`)
    expect(part.equals(whole.subarray(offset, offset + bytes))).toBe(true)
    const path = join(folder, 'live.webm')
    await writeFile(path, whole)
    await decodeRecorded(path)
    const { codecs, pictures, sounds } = await readRecorded(path)
    expect(pictures.length + sounds.length).toBeGreaterThan(10)
    return { named: facts.codecs, sent: codecs }
  }
  expect(await kinds({})).toEqual({ named: 'vp8,opus', sent: ['vp8', 'opus'] })
  expect(await kinds({ sound: 'none' })).toEqual({ named: 'vp8', sent: ['vp8'] })
  expect(await kinds({ picture: 'none' })).toEqual({ named: 'opus', sent: ['opus'] })
})
