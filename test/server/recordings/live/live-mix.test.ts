import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { liveSeconds } from '../../../support/recordings/live-seconds.ts'
import { tonesOf } from '../../../support/recordings/tones.ts'
import { readRecorded } from '../../../support/recordings/recorded-file.ts'
import { type FilmedSite, filmedSite, shortFilm } from '../../../support/sites/filmed-site.ts'

/** A live stream carries the sound of its whole room: every user of these rooms has a tone of their own. */

vi.setConfig({ testTimeout: 120_000 })

async function start(site: FilmedSite, order: Record<string, string>): Promise<{ id: string; hls: string }> {
  const answer = await site.client.get('/rtc/live/start', { room_id: site.roomId, sound: 'room', ...order })
  expect(answer).toMatchObject({ ret: 0, sound: 'room' })
  return { id: String(answer.id), hls: String(answer.hls_url) }
}

test('Every user in the room is heard, with the picture of the requested one, and nothing is left behind', async () => {
  const site = await filmedSite({ door: { ...shortFilm, tone: 500 }, yard: { ...shortFilm, tone: 1_300 } })
  const { id, hls } = await start(site, { user_id: 'door' })
  const path = await liveSeconds(hls, 6)
  const { codecs, pictures, sounds } = await readRecorded(path)
  expect(codecs).toEqual(['h264', 'aac'])
  expect(pictures.length).toBeGreaterThan(100)
  // Sound and picture begin together, and neither has holes.
  expect(Math.abs((pictures[0]?.at ?? 0) - (sounds[0]?.at ?? 9))).toBeLessThan(0.1)
  const apart = sounds.slice(1).map(({ at }, index) => at - (sounds[index]?.at ?? 0))
  expect(Math.max(...apart)).toBeLessThan(0.05)
  const { heard, silent } = await tonesOf(path, { heard: [500, 1_300], silent: [2_100] })
  for (const loudness of heard) expect(loudness).toBeGreaterThan(20 * Math.max(...silent))
  expect([...site.recorder.wanted.values()]).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: `live:mix:${id}`, roomId: site.roomId, windowMs: 90_000 })]),
  )
  expect(existsSync(join(site.recorder.folder, '~mixes', id))).toBe(true)

  expect(await site.client.get('/rtc/live/stop', { id })).toMatchObject({ ret: 0, state: 'stopped' })
  expect((await fetch(hls)).status).toBe(404)
  expect(site.recorder.wanted.has(`live:mix:${id}`)).toBe(false)
  expect(existsSync(join(site.recorder.folder, '~mixes', id))).toBe(false)
})

test('VP8 is converted to H.264, which HLS supports; without a picture there is only the sound of the room', async () => {
  const site = await filmedSite({ ann: { ...shortFilm, codec: 'vp8', tone: 500 }, bob: { ...shortFilm, tone: 1_300 } })
  const seen = await start(site, { user_id: 'ann' })
  const heardOnly = await start(site, { user_id: 'ann', picture: 'none' })
  const [film, sound] = await Promise.all([liveSeconds(seen.hls, 5), liveSeconds(heardOnly.hls, 5)])
  expect((await readRecorded(film)).codecs).toEqual(['h264', 'aac'])
  expect((await readRecorded(sound)).codecs).toEqual(['aac'])
  for (const path of [film, sound]) {
    const { heard, silent } = await tonesOf(path, { heard: [500, 1_300], silent: [2_100] })
    for (const loudness of heard) expect(loudness).toBeGreaterThan(20 * Math.max(...silent))
  }
})

test('Without ffmpeg a sentence says so, and the sound of one user still works', async () => {
  const site = await filmedSite({ door: shortFilm }, { ffmpeg: '/no/such/ffmpeg' })
  const order = { room_id: site.roomId, user_id: 'door' }
  expect(await site.client.get('/rtc/live/start', { ...order, sound: 'room' })).toMatchObject({
    ret: 431,
    msg: expect.stringContaining('ffmpeg'),
  })
  expect(site.store.all('lives').size).toBe(0)
  expect(site.recorder.wanted.size).toBe(0)
  expect(await site.client.get('/rtc/live/start', order)).toMatchObject({ ret: 0 })
})
