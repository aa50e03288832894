import { appendFile, readFile, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { openWindows } from '../support/chromium.ts'
import type { Film } from '../support/recordings/film.ts'
import { type PlayerSite, playerSite } from '../support/recordings/player-site.ts'

/** Functions of the page that the test calls: test/renderer/recordings/player-page.ts. */
interface PlayerPage {
  players: ReadonlyMap<string, { at: number; state: string }>
  shown: ReadonlyMap<string, { at: number; number: number }[]>
  conductor: {
    at: number
    ended: boolean
    play(): void
    setRate(rate: number): void
    step(direction: 1 | -1): Promise<void>
  }
  add(key: string, pieces: readonly object[]): void
  picture(key: string, at: number): Promise<number>
  step(key: string, direction: 1 | -1): Promise<number>
  thumbnail(id: number, at: number, signal: AbortSignal): Promise<{ url: string; at: number }>
}

declare global {
  var PlayerPage: new (at: number) => PlayerPage
  var player: PlayerPage
}

const startedAt = Date.UTC(2026, 8, 21, 10)

async function openPlayer(
  site: PlayerSite,
  userIds: readonly string[],
  at = startedAt,
  { open = false, code = '' }: { open?: boolean; code?: string } = {},
): Promise<Page> {
  const browser = await openWindows()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.addInitScript(code)
  await page.goto(site.url)
  await page.waitForFunction(() => 'PlayerPage' in globalThis)
  const streams = userIds.map((userId) => ({ userId, pieces: site.pieces(userId, open) }))
  await page.evaluate(
    ([begin, all]) => {
      globalThis.player = new PlayerPage(begin)
      for (const { userId, pieces } of all) globalThis.player.add(userId, pieces)
    },
    [at, streams] as const,
  )
  return page
}

/** Numbers of the pictures that were shown, with the number that belongs to their moment. */
async function shown(page: Page, key = 'camera'): Promise<{ number: number; due: number }[]> {
  const pictures = await page.evaluate((name) => globalThis.player.shown.get(name) ?? [], key)
  return pictures.map(({ at, number }) => ({ number, due: Math.round((at - startedAt) / 40) }))
}

const films: readonly (readonly [string, Partial<Film>])[] = [
  ['fragmented MP4', { codec: 'h264' }],
  ['WebM', { codec: 'vp8' }],
  ['fragmented MP4 without sound', { codec: 'h264', sound: 'none' }],
]

test.each(films)('No picture is missing, repeated or out of place at segment boundaries: %s', async (_name, film) => {
  const site = await playerSite()
  await site.record({ startedAt, film })
  const page = await openPlayer(site, ['camera'])
  // Picture by picture over the seam at 4 s, which is that of pictures 99 and 100, and back.
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 97 * 40 + 25)
  const forward: number[] = []
  for (let step = 0; step < 8; step++) forward.push(await page.evaluate(() => globalThis.player.step('camera', 1)))
  expect(forward).toEqual([98, 99, 100, 101, 102, 103, 104, 105])
  const back: number[] = []
  for (let step = 0; step < 8; step++) back.push(await page.evaluate(() => globalThis.player.step('camera', -1)))
  expect(back).toEqual([104, 103, 102, 101, 100, 99, 98, 97])

  // Playing through both seams: each picture at its moment, and none goes back.
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 20)
  const before = (await shown(page)).length
  await page.evaluate(() => globalThis.player.conductor.play())
  await expect.poll(async () => (await shown(page)).at(-1)?.number, { timeout: 40_000 }).toBeGreaterThanOrEqual(290)
  const played = (await shown(page)).slice(before)
  // On a busy machine the picture that is read may be a little later than the one that was announced.
  for (const { number, due } of played) expect(Math.abs(number - due)).toBeLessThanOrEqual(3)
  for (const [position, { number }] of played.entries()) {
    const earlier = played[position - 1]?.number ?? -1
    expect(number).toBeGreaterThanOrEqual(earlier)
  }
})

/** Makes Chromium's media source that of Safari on an iPhone: a managed one, which refuses AirPlay, and takes Opus in MP4 by another name. */
const asOnIphone = `(() => {
  const Source = MediaSource
  const known = (type) => type.replace('Opus', 'opus')
  globalThis.ManagedMediaSource = class extends Source {
    static isTypeSupported(type) {
      return !/mp4;.*opus/.test(type) && Source.isTypeSupported(known(type))
    }
    addSourceBuffer(type) {
      const { disableRemotePlayback } = document.querySelector('video')
      if (!disableRemotePlayback || !ManagedMediaSource.isTypeSupported(type)) throw new TypeError('refused: ' + type)
      return super.addSourceBuffer(known(type))
    }
  }
  delete globalThis.MediaSource
})()`

test.each(['h264', 'vp8'] as const)('Safari on an iPhone plays a recording: %s', async (codec) => {
  const site = await playerSite()
  await site.record({ startedAt, film: { codec } })
  const page = await openPlayer(site, ['camera'], startedAt, { code: asOnIphone })
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 50 * 40 + 25)
  expect((await shown(page)).at(-1)?.number).toBe(50)
})

test('A browser without Media Source Extensions shows a recording as unplayable', async () => {
  const site = await playerSite()
  await site.record({ startedAt })
  const page = await openPlayer(site, ['camera'], startedAt, { code: 'delete globalThis.MediaSource' })
  await expect
    .poll(() => page.evaluate(() => globalThis.player.players.get('camera')?.state), { timeout: 20_000 })
    .toBe('unplayable')
})

/** Lets the browser report late which picture it shows, as a busy machine does. */
const lateReports = `(() => {
  const { requestVideoFrameCallback } = HTMLVideoElement.prototype
  HTMLVideoElement.prototype.requestVideoFrameCallback = function (shown) {
    return requestVideoFrameCallback.call(this, (...facts) => setTimeout(() => shown(...facts), 400))
  }
})()`

test('A step shows the next picture, even on a busy machine', async () => {
  const site = await playerSite()
  await site.record({ startedAt })
  const page = await openPlayer(site, ['camera'], startedAt, { code: lateReports })
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 96 * 40 + 25)
  const numbers: number[] = []
  for (const direction of [1, 1, 1, 1, 1, 1, -1, -1, -1] as const) {
    await page.evaluate((one) => globalThis.player.conductor.step(one), direction)
    numbers.push((await shown(page)).at(-1)?.number ?? -1)
  }
  expect(numbers).toEqual([97, 98, 99, 100, 101, 102, 101, 100, 99])
})

test.each([
  ['h264', 2],
  ['vp8', 2],
  ['h264', 25],
] as const)('Steps go to the picture beside it over seams and gaps: %s of %i pictures a second', async (codec, fps) => {
  const site = await playerSite()
  const film = { codec, fps, gop: 2 * fps, seconds: 12 }
  await site.record({ startedAt, film })
  await site.record({ startedAt: startedAt + 60_000, film })
  const page = await openPlayer(site, ['camera'])
  const last = 12 * fps - 1
  const steps = async (direction: 1 | -1, count: number): Promise<number[]> => {
    const numbers: number[] = []
    for (let step = 0; step < count; step++) {
      await page.evaluate((one) => globalThis.player.conductor.step(one), direction)
      numbers.push((await shown(page)).at(-1)?.number ?? -1)
    }
    return numbers
  }
  // Over the seam at 4 s.
  const seam = 4 * fps
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + ((seam - 2.5) / fps) * 1_000)
  expect(await steps(1, 6)).toEqual([-2, -1, 0, 1, 2, 3].map((apart) => seam + apart))
  expect(await steps(-1, 6)).toEqual([2, 1, 0, -1, -2, -3].map((apart) => seam + apart))
  // Over the gap behind 12 s, up to the end, and back over it.
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + ((last - 0.5) / fps) * 1_000)
  expect(await steps(1, 4)).toEqual([last, 0, 1, 2])
  expect(await steps(-1, 4)).toEqual([1, 0, last, last - 1])
  const asked = site.requests.filter((path) => path.includes('/pictures'))
  expect(asked.length).toBeLessThan(20)
})

test('Stepping shows every picture of a stream beside another stream without pictures there', async () => {
  const site = await playerSite()
  const film = { fps: 2, gop: 4, seconds: 4 }
  await site.record({ startedAt, film })
  await site.record({ startedAt: startedAt + 20_000, film })
  await site.record({ startedAt: startedAt + 8_000, userId: 'other', film })
  const page = await openPlayer(site, ['camera', 'other'])
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 3_750)
  const at = (): Promise<number> => page.evaluate(() => Math.round(globalThis.player.conductor.at / 100))
  const moments: number[] = []
  for (let step = 0; step < 3; step++) {
    await page.evaluate(() => globalThis.player.conductor.step(1))
    moments.push((await at()) - startedAt / 100)
  }
  expect(moments).toEqual([80, 85, 90])
})

test('Playback that starts right before a segment boundary continues, and nothing is loaded twice', async () => {
  const site = await playerSite()
  await site.record({ startedAt, film: { gop: 50 } })
  const page = await openPlayer(site, ['camera'])
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 3_850)
  await page.evaluate(() => globalThis.player.conductor.play())
  await expect
    .poll(() => page.evaluate(() => globalThis.player.conductor.at), { timeout: 20_000 })
    .toBeGreaterThan(startedAt + 6_000)
  const numbers = (await shown(page)).map(({ number }) => number)
  expect(numbers).toEqual(expect.arrayContaining([96, 110, 125, 140]))
  expect(site.requests.filter((path) => path.includes('/media')).length).toBeLessThan(15)
})

type RecordedPart = Parameters<PlayerSite['record']>[0]

/** Recordings that follow one another, by what is different from one to the next. */
const seams: readonly (readonly [string, readonly Omit<RecordedPart, 'startedAt'>[]])[] = [
  [
    'the camera is switched off and on five times',
    Array.from({ length: 11 }, (_, part) => ({
      film: { seconds: 2 },
      has: (kind) => kind === 'sound' || part % 2 === 0,
    })),
  ],
  [
    'the size changes',
    [{ film: { seconds: 2 } }, { film: { seconds: 2, width: 640, height: 360 } }, { film: { seconds: 2 } }],
  ],
  ['the format changes', [{ film: { seconds: 2 } }, { film: { seconds: 2, codec: 'vp8' } }, { film: { seconds: 2 } }]],
  [
    'sound outlasts the picture',
    [0, 1, 2].map(() => ({ film: { seconds: 3 }, has: (kind, time) => kind === 'sound' || time < 1.5 })),
  ],
  [
    'sound begins later and ends earlier',
    [0, 1, 2].map(() => ({
      film: { seconds: 3 },
      has: (kind, time) => kind === 'picture' || (time > 0.9 && time < 2),
    })),
  ],
  [
    'the picture begins after the sound',
    [0, 1].map(() => ({ film: { seconds: 4 }, has: (kind, time) => kind === 'sound' || time >= 2 })),
  ],
  [
    'the picture begins a long time after the sound',
    [{ film: { seconds: 30 }, segmentSeconds: 30, has: (kind, time) => kind === 'sound' || time >= 27 }],
  ],
  [
    'the picture pauses while the sound goes on',
    [{ film: { seconds: 8 }, segmentSeconds: 8, has: (kind, time) => kind === 'sound' || time < 1.9 || time >= 5 }],
  ],
  [
    'the picture pauses for a long time while the sound goes on',
    [{ film: { seconds: 30 }, segmentSeconds: 30, has: (kind, time) => kind === 'sound' || time < 1.9 || time >= 27 }],
  ],
  [
    'the sound pauses for a long time while the picture goes on',
    [
      {
        film: { seconds: 30 },
        segmentSeconds: 30,
        has: (kind, time) => kind === 'picture' || time < 1.9 || time >= 27,
      },
    ],
  ],
  [
    'nothing came for two seconds',
    [{ film: { seconds: 6 }, segmentSeconds: 6, has: (_, time) => time < 1.9 || time >= 4 }],
  ],
  ['pieces are 40 ms long', [{ film: { seconds: 3, gop: 1 }, segmentSeconds: 0.04 }]],
  [
    'the sound of a piece ends in the next but one',
    [{ film: { seconds: 3, gop: 1, sound: 'aac' }, segmentSeconds: 0.04 }],
  ],
]

test.each(seams)('Continues playing where %s', async (_name, parts) => {
  const site = await playerSite()
  let at = startedAt
  for (const part of parts) {
    await site.record({ ...part, startedAt: at })
    at += (part.film?.seconds ?? 0) * 1_000
  }
  const page = await openPlayer(site, ['camera'])
  await page.evaluate(() => globalThis.player.conductor.play())
  const reached = (): Promise<number> => page.evaluate(() => globalThis.player.conductor.at)
  await expect.poll(reached, { timeout: 60_000 }).toBeGreaterThan(at - 700)
  await expect.poll(() => page.evaluate(() => globalThis.player.conductor.ended), { timeout: 20_000 }).toBe(true)
})

test('Continues across segment boundaries of one stream beside another, and both stay in sync', async () => {
  const site = await playerSite()
  const soundOnly = (kind: 'picture' | 'sound'): boolean => kind === 'sound'
  await site.record({ startedAt, userId: 'other', film: { seconds: 12 } })
  await site.record({ startedAt, film: { seconds: 3 } })
  await site.record({ startedAt: startedAt + 3_000, film: { seconds: 3 }, has: soundOnly })
  await site.record({ startedAt: startedAt + 6_000, film: { seconds: 4 } })
  const page = await openPlayer(site, ['camera', 'other'])
  await page.evaluate(() => globalThis.player.conductor.play())
  await expect
    .poll(() => page.evaluate(() => globalThis.player.conductor.at), { timeout: 60_000 })
    .toBeGreaterThan(startedAt + 8_500)
  const moments = await page.evaluate(() => [...globalThis.player.players.values()].map((player) => player.at))
  expect(Math.abs((moments[0] ?? 0) - (moments[1] ?? 0))).toBeLessThan(1_000)
})

test('A click on the time line shows the picture of that moment', async () => {
  const site = await playerSite()
  await site.record({ startedAt, film: { seconds: 60, gop: 50, width: 640, height: 360 }, segmentSeconds: 10 })
  const page = await openPlayer(site, ['camera'])
  await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + 1_000)
  const waits: number[] = []
  for (const second of [33.4, 5.1, 58.9, 20.02, 41.7, 12.3, 50.5, 28.8])
    waits.push(await page.evaluate((at) => globalThis.player.picture('camera', at), startedAt + second * 1_000))
  for (const { number, due } of (await shown(page)).slice(1)) expect(Math.abs(number - due)).toBeLessThanOrEqual(1)
  console.info(`first picture after ${waits.map((wait) => Math.round(wait)).join(', ')} ms`)
  expect(waits.toSorted((one, other) => one - other)[4]).toBeLessThan(2_000)
})

test('Several streams play together, even if one begins later or has a gap', async () => {
  const site = await playerSite()
  await site.record({ startedAt, userId: 'camera' })
  await site.record({ startedAt: startedAt + 2_000, userId: 'person', film: { codec: 'vp8', seconds: 4 } })
  await site.record({ startedAt: startedAt + 60_000, userId: 'camera', film: { seconds: 4 } })
  const page = await openPlayer(site, ['camera', 'person'])
  await page.evaluate(() => globalThis.player.conductor.play())
  await expect.poll(async () => (await shown(page, 'person')).length, { timeout: 30_000 }).toBeGreaterThan(20)
  const apart = await page.evaluate(() => {
    const { players } = globalThis.player
    return Math.abs((players.get('camera')?.at ?? 0) - (players.get('person')?.at ?? 0))
  })
  expect(apart).toBeLessThan(1_000)
  // The camera goes on after the person has left, and then over the gap.
  await expect
    .poll(() => page.evaluate(() => globalThis.player.conductor.at), { timeout: 60_000 })
    .toBeGreaterThan(startedAt + 61_000)
  expect(await page.evaluate(() => globalThis.player.players.get('person')?.state)).toBe('gap')
  await expect.poll(() => page.evaluate(() => globalThis.player.conductor.ended), { timeout: 30_000 }).toBe(true)
})

test.each(['h264', 'vp8'] as const)('A recording that is still written plays on as it grows: %s', async (codec) => {
  const site = await playerSite()
  const [id = 0] = await site.record({ startedAt, film: { codec }, segmentSeconds: 20 })
  const segment = site.index.segment(id)
  if (segment === undefined) throw new Error('nothing was recorded')
  const path = join(site.folder, segment.file)
  const whole = await readFile(path)
  const part = `${path}.part`
  await rename(path, part)
  await truncate(part, Math.round(whole.length / 3))
  const page = await openPlayer(site, ['camera'], startedAt, { open: true })
  await page.evaluate(() => globalThis.player.conductor.play())
  const latest = async (): Promise<number> => (await shown(page)).at(-1)?.number ?? 0
  await expect.poll(latest, { timeout: 30_000 }).toBeGreaterThan(25)
  await appendFile(part, whole.subarray(Math.round(whole.length / 3)))
  await expect.poll(latest, { timeout: 40_000 }).toBeGreaterThan(250)
  const numbers = (await shown(page)).map(({ number }) => number)
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
})

test('The player keeps up at faster speeds', async () => {
  const site = await playerSite()
  await site.record({ startedAt, film: { seconds: 60, gop: 50, width: 640, height: 360 }, segmentSeconds: 10 })
  const page = await openPlayer(site, ['camera'])
  await page.evaluate(() => {
    globalThis.player.conductor.setRate(16)
    globalThis.player.conductor.play()
  })
  const began = performance.now()
  await expect
    .poll(() => page.evaluate(() => globalThis.player.conductor.at), { timeout: 40_000 })
    .toBeGreaterThan(startedAt + 57_000)
  expect(performance.now() - began).toBeLessThan(30_000)
})

test.each(['h264', 'vp8'] as const)('Thumbnails are decoded by the browser: %s', async (codec) => {
  const site = await playerSite()
  const [, id = 0] = await site.record({ startedAt, film: { codec } })
  const page = await openPlayer(site, [])
  const { url, at } = await page.evaluate(
    (one) => globalThis.player.thumbnail(one, 1.5, new AbortController().signal),
    id,
  )
  expect(url).toMatch(/^data:image\/jpeg/)
  expect(url.length).toBeGreaterThan(1_000)
  expect((at - startedAt) / 1_000).toBeCloseTo(5, 1)
})
