import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { record } from '../support/recordings/recorded-files.ts'
import { type ConsoleUnderTest, type Face, openConsole } from '../support/sites/console-site.ts'
import { lookAt, sizes } from './surfaces/surface-walk.ts'

const run = promisify(execFile)
/** Two hours ago, at a full minute. */
const startedAt = Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000

/** A meeting: Anna for 12 seconds, Ben comes after 3 seconds and leaves after 7; a camera films all the time. */
async function meeting(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'recordings')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const person = { folder, roomId: '1000', device: false, film: { codec: 'vp8' } } as const
  await record({ ...person, userId: 'anna', userName: 'Anna', startedAt })
  await record({
    ...person,
    userId: 'ben',
    userName: 'Ben',
    startedAt: startedAt + 3_000,
    film: { codec: 'h264', seconds: 4 },
  })
  await record({ folder, roomId: '1000', userId: 'dock', userName: 'Loading dock', startedAt, film: { seconds: 12 } })
}

async function openPage(face: Face): Promise<{ console: ConsoleUnderTest; page: Page }> {
  const opened = await openConsole(face, { prepare: meeting })
  onTestFinished(() => opened[Symbol.asyncDispose]())
  const { page } = opened
  await expect.poll(async () => (await opened.call('recordings.sources', {})).total, { timeout: 30_000 }).toBe(3)
  await opened.call('overview.dismiss_welcome', {})
  const [address] = page.url().split('#')
  await page.goto('about:blank')
  await page.goto(`${address}#/recordings?room=1000&at=${startedAt + 500}`)
  await page.getByRole('toolbar', { name: 'Player' }).waitFor()
  return { console: opened, page }
}

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

test('An operator watches a meeting: who was there is shown, then exports it', async () => {
  const { console: opened, page } = await openPage('headless')
  await expect.poll(() => tiles(page), { timeout: 30_000 }).toEqual(expect.arrayContaining(['Anna', 'Loading dock']))
  expect(await tiles(page)).not.toContain('Ben')

  // A click on the time line shows the moment; Ben is there by then.
  // Not awaited there: it resolves after the click.
  await page.evaluate(`void (${noteFirstPicture})`)
  const zoomed = page.locator('.track')
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
  await page
    .getByLabel('From')
    .fill(new Date(startedAt - new Date(startedAt).getTimezoneOffset() * 60_000).toISOString().slice(0, 19))
  await page
    .getByLabel('To', { exact: true })
    .fill(new Date(startedAt + 12_000 - new Date(startedAt).getTimezoneOffset() * 60_000).toISOString().slice(0, 19))
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click()
  const link = page.getByRole('link', { name: 'Download' })
  await link.waitFor({ timeout: 60_000 })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(download.suggestedFilename()).toMatch(/^recordings-.*\.tar$/)
  const { stdout } = await run('tar', ['tf', await download.path()])
  expect(stdout.trim().split('\n')).toHaveLength(4)
  expect(opened.problems).toEqual([])
})

test('axe finds nothing in the dialogs and menus of recordings, desktop and phone, light and dark', async () => {
  const { console: opened, page } = await openPage('headless')
  const found: Record<string, string[]> = {}
  page.setDefaultTimeout(15_000)
  const { room_id } = await opened.call('rooms.create', { topic: 'Ruled' })
  const [address] = page.url().split('#')
  for (const size of ['desktop', 'phone'] as const) {
    await page.setViewportSize(sizes[size])
    await page.goto(`${address}#/recordings?room=1000&at=${startedAt + 500}`)
    await page.getByRole('button', { name: 'Export' }).click()
    await lookAt(page, 'ExportDialog ElDialog', size, found)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('toolbar', { name: 'Player' }).getByRole('button', { name: 'More' }).click()
    await lookAt(page, 'RecordingsPage RowMenu', size, found)
    await page.keyboard.press('Escape')
    await page.goto(`${address}#/rooms/${room_id}`)
    await page.getByRole('button', { name: 'Change rule' }).click()
    await lookAt(page, 'RuleDialog ElDialog', size, found)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: /rule/i }).waitFor({ state: 'hidden' })
  }
  expect(found).toEqual({})
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
