import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { filmedSite, shortFilm } from '../support/sites/filmed-site.ts'

/** Programs play the playlists of live streams and recorded spans. */

const run = promisify(execFile)
vi.setConfig({ testTimeout: 120_000 })

/** The playlist once there is one. */
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

test('The playlist of a live stream without sound has no sound, and one without a picture only sound', async () => {
  const site = await filmedSite({ door: shortFilm })
  const kinds = async (order: Record<string, string>): Promise<string[]> => {
    const wish = { room_id: site.roomId, user_id: 'door', ...order }
    const url = String((await site.client.get('/rtc/live/start', wish)).hls_url)
    const text = await playlist(url)
    // Places of the playlist hold: what is hidden is sent as zeros.
    const [, bytes = 0, offset = 0] = /BYTERANGE:(\d+)@(\d+)/.exec(text) ?? []
    const range = `bytes=${offset}-${Number(offset) + Number(bytes) - 1}`
    const name = /^\d+\.mp4$/m.exec(text)?.[0] ?? ''
    const piece = await fetch(new URL(name, url), { headers: { range } })
    expect([piece.status, (await piece.arrayBuffer()).byteLength]).toEqual([206, Number(bytes)])
    const wanted = ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0']
    const { stdout } = await run('ffprobe', [...wanted, url], { timeout: 60_000 })
    const decoded = ['-v', 'error', '-xerror', '-live_start_index', '0', '-i', url, '-t', '1', '-f', 'null', '-']
    await run('ffmpeg', decoded, { timeout: 60_000 })
    return [...new Set(stdout.split('\n').filter((line) => line !== ''))].toSorted()
  }
  expect(await kinds({})).toEqual(['h264', 'opus'])
  expect(await kinds({ sound: 'none' })).toEqual(['h264'])
  expect(await kinds({ picture: 'none' })).toEqual(['opus'])
})

test('A recorded span is played by ffmpeg from a playlist that ends', async () => {
  const site = await filmedSite({ door: shortFilm }, { segmentMs: 4_000 })
  const { roomId, client } = site
  const live = await client.get('/rtc/live/link', { room_id: roomId, user_id: 'door' })
  await expect
    .poll(async () => await playlist(String(live.hls_url)), { timeout: 60_000, interval: 500 })
    .toContain('#EXT-X-DISCONTINUITY\n')
  const wish = { room_id: roomId, user_id: 'door', from: String(Date.now() - 60_000), to: String(Date.now()) }
  const answer = await client.get('/rtc/recording/link', wish)
  expect(answer).toMatchObject({ ret: 0 })
  const url = String(answer.hls_url)
  const text = await playlist(url)
  expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
  expect(text).toMatch(/#EXT-X-ENDLIST\n$/)
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', url, '-f', 'null', '-progress', 'pipe:1', '-'])
  expect(Number([...stdout.matchAll(/frame=(\d+)/g)].at(-1)?.[1])).toBeGreaterThan(90)

  // Other spans: too long, the wrong way round, empty; and addresses that were never made.
  const asked = async (more: object) => (await client.get('/rtc/recording/link', { ...wish, ...more })).ret
  expect([await asked({ from: '0' }), await asked({ from: wish.to, to: wish.from })]).toEqual([407, 407])
  expect(await asked({ from: '1000', to: '2000' })).toBe(430)
  const token = new URL(url).pathname.split('/')[2] ?? ''
  for (const other of [`${token.slice(0, -4)}AAAA`, 'x'.repeat(4_000)])
    expect((await fetch(url.replace(token, other))).status).toBe(404)
})
