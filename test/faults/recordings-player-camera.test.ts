import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startFilmCameras } from '../support/camera/film-camera.ts'
import { counterBits, counterSquare, filmOf, smallFilm } from '../support/recordings/film.ts'
import { openConsole } from '../support/sites/console-site.ts'

/** Length of the film that the camera sends again and again, in pictures, and the time of one, in milliseconds. */
const filmPictures = 3_000
const pictureMs = 40

/** Notes the number and the time of each picture that the only video of the page shows. Numbers are squares at the top left, the lowest bit first. */
const notePictures = `(() => {
  const canvas = document.createElement('canvas')
  canvas.width = ${counterBits * counterSquare}
  canvas.height = ${counterSquare}
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const video = document.querySelector('figure.tile video')
  window.pictures = []
  const note = (_now, { mediaTime }) => {
    context.drawImage(video, 0, 0, canvas.width, canvas.height, 0, 0, canvas.width, canvas.height)
    let number = 0
    for (let bit = 0; bit < ${counterBits}; bit++) {
      const [red] = context.getImageData(bit * ${counterSquare} + ${counterSquare / 2}, ${counterSquare / 2}, 1, 1).data
      if (red > 127) number += 2 ** bit
    }
    window.pictures.push({ number, mediaTime })
    video.requestVideoFrameCallback(note)
  }
  video.requestVideoFrameCallback(note)
})()`

/** A picture that was shown: its number, and its time in the video element, in seconds. */
interface Shown {
  number: number
  mediaTime: number
}

const shown = (page: Page): Promise<Shown[]> => page.evaluate<Shown[]>('window.pictures')

/** Pictures between two numbers of the film, which begins again at its end. */
const apart = (from: number, to: number): number =>
  ((to - from + filmPictures + filmPictures / 2) % filmPictures) - filmPictures / 2

/** Presses a key that steps, and returns the number of the picture that comes. */
async function step(page: Page, key: '.' | ','): Promise<number> {
  const latest = async (): Promise<number | undefined> => (await shown(page)).at(-1)?.mediaTime
  const before = await latest()
  await page.keyboard.press(key)
  // The same picture may be presented again on the way.
  await expect.poll(latest, { timeout: 20_000 }).not.toBe(before)
  return (await shown(page)).at(-1)?.number ?? -1
}

test('A camera is recorded across a segment boundary, and the Recordings page shows each picture there once', {
  timeout: 240_000,
}, async () => {
  const film = await filmOf({ ...smallFilm, seconds: (filmPictures * pictureMs) / 1_000 })
  await using cameras = await startFilmCameras(film)
  const site = await openConsole('headless')
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { page } = site
  await site.call('overview.dismiss_welcome', {})
  const { room_id } = await site.call('rooms.create', { topic: 'Yard' })
  const stream = { room_id, user_id: 'yard' }
  await site.call('devices.create', { roomId: room_id, userId: 'yard', userName: 'Yard', userAddress: cameras.url(0) })
  await site.call('recordings.start', stream)
  const from = Date.now()
  const pieces = async () =>
    (await site.call('recordings.pieces', { stream, from: from - 60_000, to: Date.now() + 60_000 })).items
  // The first segment ends by its length at a key frame; some seconds of the second one have to be there.
  await expect.poll(async () => (await pieces()).map(({ end }) => end), { timeout: 150_000 }).toEqual(['length', ''])
  const seam = (await pieces())[1]?.from ?? 0
  await expect.poll(() => Date.now(), { timeout: 20_000 }).toBeGreaterThan(seam + 6_000)
  await site.call('recordings.stop', stream)
  await expect
    .poll(async () => (await pieces()).map(({ end }) => end), { timeout: 20_000 })
    .toEqual(['length', 'stopped'])

  const [address] = page.url().split('#')
  await page.goto('about:blank')
  await page.goto(`${address}#/recordings?room=${room_id}&at=${Math.round(seam) - 230}`)
  await page.getByRole('toolbar', { name: 'Player' }).waitFor()
  await page.locator('figure.tile video').waitFor()
  await page.evaluate(notePictures)
  await expect.poll(() => page.evaluate("document.querySelector('figure.tile video').readyState")).toBeGreaterThan(1)

  // Picture by picture over the seam, and back.
  const forward: number[] = []
  for (let count = 0; count < 14; count++) forward.push(await step(page, '.'))
  for (const [index, number] of forward.slice(1).entries()) expect(apart(forward[index] ?? 0, number)).toBe(1)
  const back: number[] = []
  for (let count = 0; count < 13; count++) back.push(await step(page, ','))
  expect(back).toEqual(forward.toReversed().slice(1))

  // Playing over it: no picture goes back, and each keeps its distance in time from the first one.
  const before = (await shown(page)).length
  const last = forward.at(-1) ?? 0
  await page.keyboard.press(' ')
  await expect
    .poll(async () => apart(last, (await shown(page)).at(-1)?.number ?? 0), { timeout: 30_000 })
    .toBeGreaterThan(50)
  await page.keyboard.press(' ')
  const played = (await shown(page)).slice(before)
  const [first] = played
  if (first === undefined) throw new Error('no picture was shown')
  for (const [index, { number, mediaTime }] of played.entries()) {
    expect(apart(played[index - 1]?.number ?? number, number)).toBeGreaterThanOrEqual(0)
    // On a busy machine the picture that is read may be a little later than the one that was announced.
    const due = Math.round(((mediaTime - first.mediaTime) * 1_000) / pictureMs)
    expect(Math.abs(apart(first.number, number) - due)).toBeLessThanOrEqual(3)
  }
  expect(site.problems).toEqual([])
})
