import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { counterBits, counterSquare, smallFilm } from '../support/recordings/film.ts'
import { openPage, startedAt } from './recorded-meeting.ts'

/** An operator finds a moment of a recording: by the picture under the pointer, by typing a time, by the button Live and by an event. */

/** Reads the number of a picture of the film: squares at the top left, the lowest bit first. A thumbnail is smaller. */
const readNumber = `(picture) => {
  const canvas = document.createElement('canvas')
  canvas.width = ${smallFilm.width}
  canvas.height = ${smallFilm.height}
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  let number = 0
  for (let bit = 0; bit < ${counterBits}; bit++) {
    const [red] = context.getImageData(bit * ${counterSquare} + ${counterSquare / 2}, ${counterSquare / 2}, 1, 1).data
    if (red > 127) number += 2 ** bit
  }
  return number
}`

/** Number of the picture that the camera's tile shows. */
const shownNumber = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const tile = [...document.querySelectorAll('figure.tile')].find((one) => one.textContent.includes('Loading dock'))
    return (${readNumber})(tile.querySelector('video'))
  })()`)

/** A moment as the time field takes it. */
const clockOf = (page: Page, at: number): Promise<string> =>
  page.evaluate<string>(`new Date(${at}).toTimeString().slice(0, 8)`)

/** Waits for a picture of the camera. A time on the edge of two may show either. */
async function shows(page: Page, second: number): Promise<void> {
  const apart = async (): Promise<number> => Math.abs((await shownNumber(page)) - second * smallFilm.fps)
  await expect.poll(apart, { timeout: 20_000 }).toBeLessThanOrEqual(1)
}

/** Waits for two frames of the page. */
const twoFrames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

test('The picture under the pointer, the time field, the button Live and the marks of events lead to their moments', async () => {
  const { console: opened, page } = await openPage('headless')
  await shows(page, 0.5)

  // Typed with and without colons; what is no time moves nothing.
  const field = page.getByRole('textbox', { name: 'Go to a time' })
  await page.keyboard.press('t')
  await page.locator('.time:focus').waitFor()
  await field.fill(await clockOf(page, startedAt + 5_000))
  await field.press('Enter')
  await shows(page, 5)
  await field.fill('25:00')
  await field.press('Enter')
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await shows(page, 5)
  await field.fill((await clockOf(page, startedAt + 2_000)).replaceAll(':', ''))
  await field.press('Enter')
  await shows(page, 2)

  // The pointer over the camera's lane shows the key frame before its moment.
  const track = page.getByRole('slider', { name: 'Shown moment' })
  await track.focus()
  const span = page.locator('.lane[data-key*="dock"] .span').first()
  // From a day to 21 s around the picture: all of the film is in view, and wide enough to point at its seconds.
  for (let presses = 0; presses < 12; presses++) await page.keyboard.press('+')
  const shownSeconds = async (): Promise<number> =>
    Number(await track.getAttribute('aria-valuemax')) - Number(await track.getAttribute('aria-valuemin'))
  await expect.poll(shownSeconds).toBeLessThan(23)
  // The time line has drawn what the keys asked for.
  const placed = async (): Promise<string> => JSON.stringify(await span.boundingBox())
  await expect.poll(async () => (await placed()) === (await page.evaluate(twoFrames), await placed())).toBe(true)
  const box = await span.boundingBox()
  if (box === null) throw new Error('the camera is not on the time line')
  await page.mouse.move(box.x + box.width * 0.63, box.y + box.height / 2)
  const hovered = page.locator('.hover-picture')
  await hovered.locator('img').waitFor()
  const [, second = ''] = /\d{1,2}:\d{2}:(\d{2})/.exec(await hovered.innerText()) ?? []
  expect(Number(second)).toBeGreaterThanOrEqual(6)
  const picture = await page.evaluate<number>(
    `document.querySelector('.hover-picture img').decode().then(() => (${readNumber})(document.querySelector('.hover-picture img')))`,
  )
  expect(picture).toBe(Number(second) * smallFilm.fps)
  // Nothing was recorded before.
  await page.mouse.move(box.x - 40, box.y + box.height / 2)
  await hovered.getByText('Not recorded').waitFor()
  expect(await hovered.locator('img').count()).toBe(0)
  await page.mouse.move(10, 10)
  await hovered.waitFor({ state: 'detached' })

  // Live plays the newest seconds.
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await expect.poll(() => shownNumber(page), { timeout: 20_000 }).toBeGreaterThanOrEqual(8 * smallFilm.fps)
  await page.getByRole('button', { name: 'Pause' }).click()

  // Events of the camera are marks, those of others are none; a click goes there.
  const { room_id } = await opened.call('rooms.create', { topic: 'Yard' })
  for (const userId of ['dock', 'other'])
    await opened.call('devices.create', {
      ...{ roomId: room_id, userId, userName: `Camera ${userId}` },
      userAddress: 'rtsp://127.0.0.1:9/none',
    })
  await page.reload()
  await page.getByRole('toolbar', { name: 'Player' }).waitFor()
  const added = page.locator('.mark[title*="dock"]').first()
  await expect
    .poll(
      async () => {
        await page.keyboard.press('-')
        return await page.locator('.mark').count()
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0)
  const [time = ''] = /^\S+( [AP]M)?/.exec((await added.getAttribute('title')) ?? '') ?? []
  await added.click()
  await expect.poll(() => field.inputValue()).toBe(time)
  expect(await page.locator('.mark[title*="other"]').count()).toBe(0)
  expect(opened.problems).toEqual([])
})
