import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { dateFormats } from '../../renderer/kit/time/date-formats.ts'
import { wallTimeOf } from '../../renderer/kit/time/wall-time.ts'
import { openConsole } from '../support/sites/console-site.ts'
import { fillDateTime } from '../e2e/date-time-field.ts'
import { meeting, openPage, startedAt } from '../e2e/recorded-meeting.ts'

const run = promisify(execFile)
/** Names of the people and cameras whose pictures are shown. */
const tiles = (page: Page): Promise<string[]> => page.locator('figure.tile:visible figcaption span').allTextContents()

/** Notes how long after the next click the first visible stream shows a picture. */
const noteFirstPicture = `window.firstPicture = new Promise((resolve) => {
  window.addEventListener('pointerup', () => {
    const clicked = performance.now()
    const videos = [...document.querySelectorAll('figure.tile video')]
    const video = videos.find((one) => one.checkVisibility())
    video.requestVideoFrameCallback(() => resolve(performance.now() - clicked))
  }, { once: true, capture: true })
})`

test('An operator watches a meeting, sees who took part, and exports it', async () => {
  const { console: opened, page } = await openPage('headless')
  await expect.poll(() => tiles(page), { timeout: 30_000 }).toEqual(expect.arrayContaining(['Anna', 'Loading dock']))
  expect(await tiles(page)).not.toContain('Ben')

  // A click on the time line shows the moment; Ben is there by then.
  // Not awaited there: it resolves after the click.
  await page.evaluate(`void (${noteFirstPicture})`)
  const zoomed = page.getByRole('slider', { name: 'Shown moment' })
  await zoomed.focus()
  const spans = async (): Promise<number[][]> => {
    const boxes = await Promise.all((await page.locator('.lane .span').all()).map((one) => one.boundingBox()))
    return boxes.flatMap((box) => (box === null ? [] : [[box.x, box.x + box.width]]))
  }
  const widest = async (): Promise<number> => Math.max(0, ...(await spans()).map(([from = 0, to = 0]) => to - from))
  await expect
    .poll(async () => {
      await page.keyboard.press('+')
      return await widest()
    })
    .toBeGreaterThan(300)
  const lane = await page.locator('.lane').first().boundingBox()
  if (lane === null) throw new Error('nothing is on the time line')
  const left = Math.min(...(await spans()).map(([from = 0]) => from))
  const right = Math.max(...(await spans()).map(([, to = 0]) => to))
  await page.mouse.click(left + (right - left) * (5 / 12), lane.y + 18)
  const waited = await page.evaluate<number>('window.firstPicture')
  console.info(`first picture ${Math.round(waited)} ms after the click`)
  await expect.poll(() => tiles(page)).toEqual(expect.arrayContaining(['Anna', 'Ben', 'Loading dock']))

  // Picture by picture, then playing until Ben has left.
  await page.keyboard.press('.')
  await page.keyboard.press(' ')
  await expect.poll(() => tiles(page), { timeout: 30_000 }).not.toContain('Ben')
  await page.keyboard.press(' ')

  await page.keyboard.press('e')
  const { day } = dateFormats('en')
  for (const [label, at] of [
    ['From', startedAt],
    ['To', startedAt + 12_000],
  ] as const)
    await fillDateTime(page, label, day(at), wallTimeOf(at).slice(11))
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click()
  const link = page.getByRole('link', { name: 'Download' })
  await link.waitFor({ timeout: 60_000 })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(download.suggestedFilename()).toMatch(/^recordings-.*\.zip$/)
  const { stdout } = await run('unzip', ['-Z1', await download.path()])
  expect(stdout.trim().split('\n')).toHaveLength(4)
  expect(opened.problems).toEqual([])
})

test('On the desktop, recordings play and are downloaded under app://', async () => {
  const opened = await openConsole('desktop', { prepare: meeting })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  const { page } = opened
  await expect.poll(async () => (await opened.call('recordings.sources', {})).total, { timeout: 30_000 }).toBe(3)
  await opened.call('overview.dismiss_welcome', {})
  await page.evaluate(`location.hash = '#/recordings?room=1000&at=${startedAt + 4_000}'`)
  await expect
    .poll(() => tiles(page), { timeout: 30_000 })
    .toEqual(expect.arrayContaining(['Anna', 'Ben', 'Loading dock']))
  await expect
    .poll(() => page.evaluate("[...document.querySelectorAll('figure.tile video')].map((one) => one.videoWidth)"))
    .toEqual([320, 320, 320])
  const streams = [{ room_id: '1000', user_id: 'dock' }]
  await opened.call('exports.start', { streams, from: startedAt, to: startedAt + 12_000 })
  await page.keyboard.press('e')
  const link = page.getByRole('link', { name: 'Download' })
  await link.waitFor({ timeout: 60_000 })
  const address = (await link.getAttribute('href')) ?? ''
  const bytes = await page.evaluate<number>(
    `fetch('${address}').then(async (one) => (await one.arrayBuffer()).byteLength)`,
  )
  expect(bytes).toBeGreaterThan(100_000)
  expect(opened.problems).toEqual([])
})
