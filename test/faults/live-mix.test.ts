import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { receiveRtmp, sizeOf } from '../support/recordings/rtmp-server.ts'
import { liveSeconds } from '../support/recordings/live-seconds.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { tonesOf } from '../support/recordings/tones.ts'
import { filmedSite, shortFilm } from '../support/sites/filmed-site.ts'

/** A live stream with the sound of its room, over minutes: people come and go, its files follow each other, and it is pushed. */

vi.setConfig({ testTimeout: 400_000 })

const tones = { door: 500, yard: 1_300 }

test('The mix adds users who join and drops those who leave, old files are deleted, and a push carries the same sound', async () => {
  const site = await filmedSite({ door: { ...shortFilm, tone: tones.door } })
  const port = await freePort()
  const pushed = join(site.folder, 'pushed.flv')
  receiveRtmp(port, pushed)
  const began = Date.now()
  site.settings().live.push_networks = ['127.0.0.0/8', '::1']
  const order = { user_id: 'door', sound: 'room', publish_url: `rtmp://localhost:${port}/app/secret-key` }
  const live = await site.client.get('/rtc/live/start', { room_id: site.roomId, ...order })
  expect(live).toMatchObject({ ret: 0 })
  const hls = String(live.hls_url)
  const heard = async (): Promise<string[]> => {
    const found = await tonesOf(await liveSeconds(hls, 4), { people: Object.values(tones), silent: [2_100] })
    return Object.keys(tones).filter((_, index) => (found.people[index] ?? 0) > 20 * (found.silent[0] ?? 0))
  }
  expect(await heard()).toEqual(['door'])
  await site.recorder.come('yard', { ...shortFilm, tone: tones.yard })
  await expect.poll(heard, { timeout: 60_000 }).toEqual(['door', 'yard'])
  expect(await sizeOf(pushed)).toBeGreaterThan(10_000)
  const both = await tonesOf(pushed, { people: Object.values(tones), silent: [2_100] })
  for (const loudness of both.people) expect(loudness).toBeGreaterThan(5 * (both.silent[0] ?? 0))
  site.recorder.leave('yard')
  await expect.poll(heard, { timeout: 90_000 }).toEqual(['door'])

  // Over the seam of two files: every picture is there, and sound without a hole that anybody hears.
  await expect
    .poll(async () => await (await fetch(hls)).text(), { timeout: 90_000 })
    .toContain('#EXT-X-DISCONTINUITY\n')
  const { pictures, sounds } = await readRecorded(await liveSeconds(hls, 12))
  expect(pictures.length).toBeGreaterThan(12 * 25 - 5)
  expect(sounds.length).toBeGreaterThan((12 * 48_000) / 1_024 - 5)

  // The camera is away, longer than its files may have a hole.
  site.recorder.leave('door')
  await sleep(8_000)
  await site.recorder.come('door', { ...shortFilm, tone: tones.door })
  await expect.poll(heard, { timeout: 60_000 }).toEqual(['door'])

  await sleep(Math.max(0, 240_000 - (Date.now() - began)))
  const files = await readdir(join(site.recorder.folder, '~mixes', String(live.id)))
  expect(files.length).toBeLessThanOrEqual(4)
  expect(await heard()).toEqual(['door'])
  await site.client.get('/rtc/live/stop', { id: String(live.id) })
  expect(await readdir(join(site.recorder.folder, '~mixes'))).toEqual([])
  expect(site.logged.join('')).not.toContain('begins again')
})
