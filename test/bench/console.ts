/**
 * Waiting times of an operator, in headless Chromium on the built console of a headless controller: `node test/bench/console.ts`, or a part of
 * `npm run bench`. Each figure is the median of five cold loads: a new browser context with nothing cached, signed in.
 */
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { openChromium } from '../support/chromium.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { firstPaint } from './first-paint.ts'
import { fillRooms } from './site.ts'
import { printTable, report } from './table.ts'

const loads = 5
const soonMs = 1_000
const maxKilobytes = 350
/** Each file costs a browser some milliseconds. */
const maxFiles = 20

/** Runs in the page before all other scripts: resolves to the milliseconds from navigation until `text` was painted in `selector`. */
const whenPainted = `globalThis.whenPainted = (selector, text) => new Promise((resolve) => {
  const look = () => {
    if (![...document.querySelectorAll(selector)].some((element) => element.textContent.includes(text))) return requestAnimationFrame(look)
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
  }
  look()
})`

type SignedIn = Awaited<ReturnType<Awaited<ReturnType<Browser['newContext']>>['storageState']>>

/** Measures the first paint of the overview, the time from there to the rooms, and the size of the first page. */
export async function measureConsole(): Promise<void> {
  const browser = await openChromium()
  try {
    await withRooms(1_000, browser, async (controller, session) => {
      const at = `${controller.ready.console}/#/overview`
      const firsts: number[] = []
      const shown = await medianOf(async () => {
        await using page = await newPage(browser, session)
        await page.goto(at)
        const painted = await page.evaluate<number>(`whenPainted('a[href="#/rooms"]', '1,000')`)
        firsts.push(await firstPaint(page))
        return painted
      })
      reportTime('console, first paint with 1,000 rooms', median(firsts))
      reportTime('console, overview of 1,000 rooms complete', shown)
      await measureWeight(browser, session, at)
    })
    await withRooms(100_000, browser, async (controller, session) => {
      const newest = 'Benchmark room 100000'
      const cold = await medianOf(async () => {
        await using page = await newPage(browser, session)
        await page.goto(`${controller.ready.console}/#/rooms`)
        return await page.evaluate<number>(`whenPainted('[role=row]', '${newest}')`)
      })
      reportTime('rooms page at 100,000 rooms, loaded', cold)
      const clicked = await medianOf(async () => {
        await using page = await newPage(browser, session)
        await page.goto(`${controller.ready.console}/#/overview`)
        await page.evaluate(`whenPainted('a[href="#/rooms"]', '100,000')`)
        return await page.evaluate<number>(`(async () => {
          const clicked = performance.now()
          document.querySelector('nav a[href="#/rooms"]').click()
          return (await whenPainted('[role=row]', '${newest}')) - clicked
        })()`)
      })
      reportTime('rooms page at 100,000 rooms, from another page', clicked)
    })
  } finally {
    await browser.close()
  }
}

/** Measures the bytes of all requests until the first page is complete, each file compressed. */
async function measureWeight(browser: Browser, session: SignedIn, address: string): Promise<void> {
  await using page = await newPage(browser, session)
  const files: Promise<number>[] = []
  page.on('response', (response) => {
    files.push(
      response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      ),
    )
  })
  await page.goto(address)
  await page.evaluate(`whenPainted('a[href="#/rooms"]', '1,000')`)
  const kilobytes = (await Promise.all(files)).reduce((sum, bytes) => sum + bytes, 0) / 1_000
  report(
    'console, first page compressed',
    `${kilobytes.toFixed(0)} kB in ${files.length} files`,
    `under ${maxKilobytes} kB, at most ${maxFiles} files`,
    kilobytes < maxKilobytes && files.length <= maxFiles,
  )
}

async function withRooms(
  count: number,
  browser: Browser,
  measure: (controller: Headless, session: SignedIn) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  await fillRooms(folder, count)
  const controller = await startHeadless({ folder, flags: ['--log-level', 'error'] })
  try {
    await controller.rpc('overview.dismiss_welcome', {})
    await measure(controller, await signIn(browser, controller))
  } finally {
    await controller.stop()
    await removeFolder(folder)
  }
}

/** Signs in with the console key. */
export async function signIn(browser: Browser, controller: Headless): Promise<SignedIn> {
  await using context = await browser.newContext()
  const page = await context.newPage()
  const key = (await readFile(join(controller.folder, 'console.key'), 'utf8')).trim()
  await page.goto(`${controller.ready.console}/#key=${key}`)
  await page.getByRole('navigation').first().waitFor()
  return await context.storageState()
}

/** Opens a page without a cache. */
async function newPage(browser: Browser, storageState: SignedIn): Promise<Page> {
  const page = await browser.newPage({
    storageState,
    viewport: { width: 1360, height: 860 },
    locale: 'en-US',
  })
  await page.addInitScript(whenPainted)
  return page
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const samples: number[] = []
  while (samples.length < loads) samples.push(await measure())
  return median(samples)
}

const median = (samples: readonly number[]): number =>
  [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN

function reportTime(what: string, milliseconds: number): void {
  report(what, `${milliseconds.toFixed(0)} ms`, `under ${soonMs / 1_000} s`, milliseconds < soonMs)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await measureConsole()
  printTable()
}
