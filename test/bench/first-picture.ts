/**
 * Time until an operator sees the moment of a recording that was clicked: `npm run bench -- first-picture`. Headless Chromium on the real Recordings page of a headless controller,
 * over a day of one camera; each click goes to an hour that was not shown before.
 */
import { link, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { StoredIndex } from '../../server/recordings/index/stored-index.ts'
import { segmentPath } from '../../shared/recordings/segment-path.ts'
import { segmentMs } from '../../shared/recordings/segment.ts'
import { openChromium } from '../support/chromium.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { record } from '../support/recordings/recorded-files.ts'
import { signIn } from './console.ts'
import { report } from './table.ts'

const dayMs = 24 * 60 * 60_000
const segments = dayMs / segmentMs
const seeks = 20
const goalMs = 300
const film = { seconds: segmentMs / 1_000, width: 1_280, height: 720, gop: 50 } as const

/** Measures the clicks into the table. */
export async function measureFirstPicture(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  const browser = await openChromium()
  let controller: Headless | undefined
  try {
    const from = await recordDay(join(folder, 'recordings'))
    controller = await startHeadless({ folder })
    await controller.rpc('overview.dismiss_welcome', {})
    const { items } = await controller.rpc('recordings.sources', {})
    if (items[0]?.segments !== segments) throw new Error('the index lacks segments')
    const storageState = await signIn(browser, controller)
    const page = await browser.newPage({
      storageState,
      viewport: { width: 1360, height: 860 },
      locale: 'en-US',
    })
    await page.goto(`${controller.ready.console}/#/recordings?room=1000&at=${from + 30 * 60_000}`)
    await page.locator('.lane .span').first().waitFor()
    // Not by waitForFunction, which the policy of the page refuses.
    while (!(await page.evaluate<boolean>("document.querySelector('figure.tile video')?.readyState > 1")))
      await page.waitForTimeout(100)
    const waits = await clicks(page, from)
    const sorted = waits.toSorted((one, other) => one - other)
    const [median = NaN, slowest = NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
    report(
      `recordings page, first picture after a click on a day of a camera (${seeks} clicks)`,
      `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`,
      `${goalMs} ms`,
      slowest <= goalMs,
    )
  } finally {
    await browser.close()
    await controller?.stop()
    await removeFolder(folder)
  }
}

/** Records a minute, and puts it into each minute of the last whole day. @returns the beginning of the day */
async function recordDay(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // From local midnight to midnight: the page shows a day.
  const from = new Date().setHours(0, 0, 0, 0) - dayMs
  const stream = { roomId: '1000', userId: 'yard', source: 'main', quality: 'main' } as const
  const [first] = await record({
    folder,
    ...stream,
    userName: 'Yard',
    startedAt: from,
    film,
    segmentSeconds: film.seconds,
  })
  if (first === undefined) throw new Error('nothing was recorded')
  const fail = (reason: string): never => {
    throw new Error(reason)
  }
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: fail })
  for (let minute = 0; minute < segments; minute++) {
    const startedAt = from + minute * segmentMs
    const file = segmentPath(stream, startedAt, 'mp4')
    index.writer.ended({ ...first, file, startedAt, endedAt: startedAt + segmentMs })
    await mkdir(dirname(join(folder, file)), { recursive: true })
    if (minute > 0) await link(join(folder, first.file), join(folder, file))
  }
  index.close()
  return from
}

/** Clicks on the time line, at another hour each time. @returns milliseconds from each click to its picture */
async function clicks(page: Page, from: number): Promise<number[]> {
  const waits: number[] = []
  const track = page.locator('.track')
  for (let seek = 0; seek < seeks; seek++) {
    const box = await track.boundingBox()
    const [begin, end] = await viewOf(page)
    if (box === null) throw new Error('there is no time line')
    // Every hour once, in an order that jumps.
    const at = from + (((seek * 7) % 23) + 0.37) * 3_600_000
    await page.evaluate(`globalThis.pictured = new Promise((resolve) => addEventListener('pointerup', () => {
      const clicked = performance.now()
      const video = document.querySelector('figure.tile video')
      const before = video.currentTime
      // The picture before may be presented once more.
      const note = (_now, { mediaTime }) => {
        if (Math.abs(mediaTime - before) > 60) resolve(performance.now() - clicked)
        else video.requestVideoFrameCallback(note)
      }
      video.requestVideoFrameCallback(note)
    }, { once: true, capture: true })); undefined`)
    await page.mouse.click(box.x + ((at - begin) / (end - begin)) * box.width, box.y + 40)
    waits.push(await page.evaluate<number>('globalThis.pictured'))
    // The rest of what is loaded ahead is no part of the next click.
    await page.waitForTimeout(500)
  }
  return waits
}

/** The part of time that the time line shows, in milliseconds. */
async function viewOf(page: Page): Promise<[number, number]> {
  const track = page.locator('.track .slider')
  const value = async (name: string): Promise<number> => Number(await track.getAttribute(name)) * 1_000
  return [await value('aria-valuemin'), await value('aria-valuemax')]
}
