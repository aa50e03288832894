import net from 'node:net'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { lanAddresses } from '../../server/edge/network-addresses.ts'
import { launch } from '../e2e/desktop.ts'
import { certificateFiles, shown } from '../server/edge/certificates.ts'
import { openWindows } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { startHeadless } from '../support/headless.ts'
import { scanCode } from '../support/scanned-code.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { Visitor } from '../support/sites/room-site.ts'

/** Goal of the product: from the icon to a camera on a phone, in milliseconds. */
const goalMs = 180_000
const [lan = ''] = lanAddresses()
const phone = {
  viewport: { width: 393, height: 852 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
  ignoreHTTPSErrors: true,
  locale: 'en-GB',
}

const at = (page: Page, step: string): Promise<void> =>
  page.locator('[aria-current="step"]', { hasText: step }).waitFor()
const key = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const focused = (page: Page) => page.evaluate('document.activeElement?.value')

describe.skipIf(lan === '')('the first run', () => {
  test('leads from the icon to a camera in a room that a phone shows, by keyboard, in three minutes', async () => {
    const began = performance.now()
    await using desktop = await launch()
    const { page } = desktop
    page.setDefaultTimeout(30_000)
    await at(page, 'Purpose')
    // The network is for a site: Enter goes on with what is proposed.
    for (const [step, proposed] of [
      ['Purpose', 'site'],
      ['Network', 'open'],
      ['Certificate', 'self-signed'],
      ['Room', 'First room'],
    ] as const) {
      await at(page, step)
      await expect.poll(() => focused(page), { timeout: 20_000 }).toBe(proposed)
      if (step === 'Network')
        await page.getByText(/listens on every network of this computer, on the ports \d+, \d+, \d+\./).waitFor()
      await page.keyboard.press('Enter')
    }
    await page.getByText('Waiting for a phone to open it…').waitFor()

    const windows = await openWindows(['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'])
    onTestFinished(() => windows.close())
    const context = await windows.newContext(phone)
    const link = await scanCode(page.getByRole('img', { name: 'QR code of the room' }))
    expect(link.startsWith(`https://${lan}:`)).toBe(true)
    const visitor = new Visitor(await context.newPage())
    await visitor.page.goto(link)
    await visitor.enter('Ann')
    await page.getByText('Ann is in the room').waitFor()

    await key(page, 'Next').press('Enter')
    await at(page, 'Camera')
    await page.getByRole('button', { name: 'Use the test camera' }).press('Enter')
    await page.getByText('Test camera is in the room').waitFor()
    await visitor.sees('Test camera', 12)
    const tookMs = performance.now() - began
    await page.getByText('Ann sees it').waitFor()
    const video = `document.querySelector('[aria-label="Test camera"] video')`
    expect(await visitor.page.evaluate(`[${video}.videoWidth, ${video}.videoHeight]`)).toEqual([640, 360])
    // The console shows it, too.
    const frames = `document.querySelector('.picture video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0`
    await expect.poll(() => page.evaluate(frames), { timeout: 20_000 }).toBeGreaterThan(5)
    await key(page, 'Next').press('Enter')
    await page.getByText('What stands now.').waitFor()
    await key(page, 'Open the overview').press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(visitor.problems).toEqual([])
    process.stderr.write(`from the launch to a picture on the phone: ${(tookMs / 1_000).toFixed(1)} s\n`)
    expect(tookMs).toBeLessThan(goalMs)
  }, 240_000)

  describe('that is interrupted', () => {
    let site: ConsoleUnderTest
    beforeAll(async () => {
      site = await openConsole('desktop')
    })
    afterAll(() => site[Symbol.asyncDispose]())

    test('continues where it was after the app started again, with what was made, and makes nothing twice', async () => {
      await site.page.getByRole('radio', { name: /^Try it out/ }).check()
      await key(site.page, 'Next').click()
      await at(site.page, 'Room')
      await key(site.page, 'Create room').click()
      await key(site.page, 'Next').click()
      await at(site.page, 'Camera')
      await site.page.getByRole('button', { name: 'Use the test camera' }).click()
      await site.page.getByText('Test camera is in the room').waitFor()
      await site.restart()
      const { page } = site
      await at(page, 'Camera')
      await page.getByText('Test camera is in the room').waitFor()
      await page.keyboard.press('Alt+ArrowLeft')
      await at(page, 'Room')
      await page.reload()
      await at(page, 'Room')
      await expect.poll(() => page.getByLabel('Name of the room').inputValue()).toBe('First room')
      await key(page, 'Next').click()
      await at(page, 'Camera')
      await key(page, 'Add another camera').click()
      await page.getByRole('button', { name: 'Use the test camera' }).click()
      await page.getByText('Test camera is in the room').waitFor()
      expect((await site.call('rooms.list', {})).items).toHaveLength(1)
      expect(await site.call('devices.list', {})).toHaveLength(1)
    })

    test('notices what was deleted, and can be skipped for good', async () => {
      const { page } = site
      const [device] = await site.call('devices.list', {})
      await site.call('devices.remove', { userIds: [device?.userId ?? ''] })
      await page.getByRole('button', { name: 'Use the test camera' }).waitFor()
      await key(page, 'Skip this step').click()
      await page.getByText('No camera yet').waitFor()
      await key(page, 'Back').click()
      await at(page, 'Camera')
      await key(page, 'Skip the first run').click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await site.restart()
      await site.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(site.problems).toEqual([])
    })
  })

  test('says that a port is taken, changes nothing, and goes on once it is free', async () => {
    const port = await freePort()
    const other = net.createServer().listen(port, lan)
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    await using desktop = await launch({ args: [`--media-port=${port}`] })
    const { page, call } = desktop
    page.setDefaultTimeout(30_000)
    await key(page, 'Next').click()
    await at(page, 'Network')
    await key(page, 'Apply and continue').click()
    const alert = page.getByRole('alert').filter({ hasText: 'Nothing was changed.' })
    await alert.getByText(/Stop that program, or choose another port/).waitFor()
    expect(await alert.innerText()).toContain(String(port))
    expect(await call('first_run.get')).toMatchObject({ step: 'network', open: false })
    other.close()
    await key(page, 'Apply and continue').click()
    await at(page, 'Certificate')
    expect(await call('first_run.get')).toMatchObject({ step: 'certificate', open: true })
  }, 120_000)

  test('goes on in a browser whose console moves to every network, then to https', async () => {
    await using controller = await startHeadless()
    const windows = await openWindows()
    onTestFinished(() => windows.close())
    const page = await windows.newPage({
      viewport: { width: 1360, height: 860 },
      locale: 'en-US',
      ignoreHTTPSErrors: true,
    })
    page.setDefaultTimeout(30_000)
    const secret = (await readFile(join(controller.folder, 'console.key'), 'utf8')).trim()
    await page.goto(`${controller.ready.console}/#key=${secret}`)
    await key(page, 'Next').click()
    await at(page, 'Network')
    await key(page, 'Apply and continue').click()
    await at(page, 'Certificate')
    await key(page, 'Apply and continue').click()
    await expect.poll(() => page.url(), { timeout: 20_000 }).toMatch(/^https:.*#\/welcome\/room$/)
    // Another scheme is another site to the browser: it asks for the key again.
    await page.getByLabel('Console key').waitFor()
    const again = await page.context().newPage()
    again.setDefaultTimeout(30_000)
    await again.goto(`${new URL(page.url()).origin}/#key=${secret}`)
    await at(again, 'Room')
    await key(again, 'Create room').click()
    const link = await scanCode(again.getByRole('img', { name: 'QR code of the room' }))
    expect(link.startsWith(`https://${lan}:`)).toBe(true)
  }, 120_000)
})
