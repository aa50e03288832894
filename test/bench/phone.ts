/**
 * The console on a slow phone: `npm run bench -- phone`. 390 × 844 pixels, the processor slowed four times, a site of 1,000 rooms, 2,000 cameras
 * and 100,000 events. A frame is the time between two animation frames while a list scrolls.
 */
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openChromium } from '../support/chromium.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { fillDevices, fillEvents, fillRooms } from './site.ts'
import { firstPaint } from './first-paint.ts'
import { report } from './table.ts'

const counts = { rooms: 1_000, devices: 2_000, events: 100_000 }
const slowedTimes = 4
/** Goal of the longest frame while scrolling, in milliseconds. */
const maxFrameMs = 100
const goals = { firstPaint: 412, dialog: 120 }
const rounds = 5

/** Measures scrolling, the first paint and the opening of a dialog. */
export async function measurePhone(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  await fillRooms(folder, counts.rooms)
  await fillDevices(folder, counts.devices, counts.rooms)
  await fillEvents(folder, counts.events, counts.rooms)
  const browser = await openChromium()
  const controller = await startHeadless({ folder, flags: ['--log-level', 'error'] })
  try {
    await controller.rpc('overview.dismiss_welcome', {})
    const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
    await using page = await newPhone(browser)
    await page.goto(`${controller.ready.console}/#key=${key}`)
    await page.getByRole('navigation').first().waitFor()
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowedTimes })
    for (const list of ['Rooms', 'Devices', 'Events']) {
      await page.evaluate(`location.hash = '/${list.toLowerCase()}'`)
      await page.getByRole('grid', { name: list, exact: true }).getByRole('row').nth(5).waitFor()
      // The page has arrived: what counts is scrolling.
      await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 5000 }))')
      const { longest, frames, middle } = await scroll(page, list)
      report(
        `phone, longest frame of scrolling ${list.toLowerCase()}`,
        `${longest.toFixed(0)} ms of ${frames} frames, median ${middle.toFixed(0)} ms`,
        `under ${maxFrameMs} ms`,
        longest < maxFrameMs,
      )
    }
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    const painted = await median(async () => {
      await page.reload()
      await page.getByRole('navigation').first().waitFor()
      return await firstPaint(page)
    })
    report('phone, first paint', `${painted.toFixed(0)} ms`, `under ${goals.firstPaint} ms`, painted < goals.firstPaint)
    await page.evaluate(`location.hash = '/rooms'`)
    await page.getByRole('button', { name: 'New room', exact: true }).waitFor()
    const opened = await median(() => openDialog(page))
    report('phone, a dialog opens', `${opened.toFixed(0)} ms`, `under ${goals.dialog} ms`, opened < goals.dialog)
  } finally {
    await browser.close()
    await controller.stop()
    await removeFolder(folder)
  }
}

function newPhone(browser: Browser): Promise<Page> {
  return browser.newPage({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'en-US' })
}

/** Scrolls the list for three seconds, as a thumb does, and measures the frames. */
async function scroll(page: Page, name: string): Promise<{ longest: number; frames: number; middle: number }> {
  return await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('[role=grid][aria-label="${name}"]')
    const gaps = []
    const began = performance.now()
    let last = began
    const frame = (now) => {
      if (now > last) gaps.push(now - last)
      last = Math.max(last, now)
      if (now - began > 3000) {
        gaps.sort((one, other) => one - other)
        return resolve({ longest: gaps.at(-1), frames: gaps.length, middle: gaps[Math.floor(gaps.length / 2)] })
      }
      list.scrollTop += 90
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })`)
}

/** Opens the form of a new room, and closes it. @returns the milliseconds until its first field was painted */
async function openDialog(page: Page): Promise<number> {
  const took = await page.evaluate<number>(`new Promise((resolve) => {
    const button = [...document.querySelectorAll('main button')].find(({ innerText }) => innerText.includes('New room'))
    const began = performance.now()
    button.click()
    const look = () => {
      if (!document.querySelector('dialog input')?.checkVisibility()) return requestAnimationFrame(look)
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
    }
    look()
  })`)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  return took
}

async function median(measure: () => Promise<number>): Promise<number> {
  const samples: number[] = []
  while (samples.length < rounds) samples.push(await measure())
  return samples.sort((one, other) => one - other)[Math.floor(rounds / 2)] ?? Number.NaN
}
