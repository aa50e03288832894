import { X509Certificate } from 'node:crypto'
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
import { type Headless, startHeadless } from '../support/headless.ts'
import { MachineNetwork } from '../support/network/machine-network.ts'
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
  test('leads from the icon to a camera in a room shown on a phone, by keyboard, in three minutes', async () => {
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
    await page.getByText('No phone has joined yet. Open the link there, then choose “Join”.').waitFor()

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

    test('continues at the same step after the app was restarted, with all objects it created, and creates nothing twice', async () => {
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

    test('says that its room was deleted elsewhere, and continues with another one, or with the same room once it is restored', async () => {
      const { page } = site
      const { room } = await site.call('first_run.get')
      const room_id = room?.room_id ?? ''
      const { undo } = await site.call('rooms.delete', { room_ids: [room_id] })
      const gone = page.getByRole('alert').filter({ hasText: 'The room was deleted meanwhile.' })
      await gone.waitFor()
      expect(await gone.getByRole('link', { name: 'trash' }).getAttribute('href')).toBe('#/trash')
      await site.call('rooms.restore', { undo })
      await page.getByText('Test camera is in the room').waitFor()
      expect(await gone.count()).toBe(0)
      await site.call('rooms.delete', { room_ids: [room_id] })
      await key(page, 'Create another room').click()
      await at(page, 'Room')
      await gone.waitFor()
      await key(page, 'Create another room').click()
      await page.getByText('The link works on this computer only.').waitFor()
      expect(await gone.count()).toBe(0)
      await key(page, 'Next').click()
      await page.getByRole('button', { name: 'Use the test camera' }).click()
      await page.getByText('Test camera is in the room').waitFor()
      expect((await site.call('rooms.list', {})).items.map(({ room_id: one }) => one)).not.toContain(room_id)
    })

    test('notices deleted objects, and can be skipped for good', async () => {
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

  test('says that a port is in use, changes nothing, and continues once it is free', async () => {
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

  test('continues in a browser while the console moves to every network, then to https', async () => {
    await using controller = await startHeadless()
    const page = await openWith(controller)
    const secret = (await readFile(join(controller.folder, 'console.key'), 'utf8')).trim()
    await key(page, 'Next').click()
    await at(page, 'Network')
    await key(page, 'Apply and continue').click()
    await at(page, 'Certificate')
    await key(page, 'Apply and continue').click()
    await expect.poll(() => page.url(), { timeout: 60_000 }).toMatch(/^https:.*#\/welcome\/room$/)
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

  test('accepts a certificate from files, and changes nothing while a file is missing', async () => {
    await using controller = await startHeadless()
    const page = await openWith(controller)
    await key(page, 'Next').click()
    await at(page, 'Network')
    await page.getByRole('radio', { name: /^This computer only/ }).check()
    await key(page, 'Next').click()
    await at(page, 'Certificate')
    await page.getByRole('radio', { name: /^I have one/ }).check()
    expect(await key(page, 'Apply and continue').isDisabled()).toBe(true)
    const { cert_file, key_file } = await certificateFiles(controller.folder)
    await page.getByLabel('Certificate file').fill(`${cert_file}.missing`)
    await page.getByLabel('Key file').fill(key_file)
    await key(page, 'Apply and continue').click()
    await page.getByRole('alert').filter({ hasText: 'Nothing was changed.' }).waitFor()
    expect((await controller.rpc('tls.info', undefined)).mode).toBe('off')
    await page.getByLabel('Certificate file').fill(cert_file)
    await key(page, 'Apply and continue').click()
    await expect.poll(() => page.url(), { timeout: 60_000 }).toMatch(/^https:.*#\/welcome\/room$/)
    controller.consoleSpeaks('https')
    expect(await controller.rpc('tls.info', undefined)).toMatchObject({ mode: 'file' })
    const { fingerprint256 } = new X509Certificate(await readFile(cert_file))
    expect(await shown(controller.ready.console)).toBe(fingerprint256)
  }, 120_000)

  test.skipIf(!MachineNetwork.possible)(
    'asks on a machine in several networks which address phones use, and puts it into links',
    async () => {
      await using network = await MachineNetwork.create()
      const machine = await network.add()
      const other = '172.31.77.5'
      await machine.addCard('office', other)
      await using controller = await startHeadless({ through: machine.through, flags: ['--host', '0.0.0.0'] })
      const { ready } = controller
      controller.ready = { ...ready, console: ready.console.replace('127.0.0.1', machine.address) }
      const page = await openWith(controller)
      await key(page, 'Next').click()
      await at(page, 'Network')
      const addresses = page.getByRole('combobox', { name: 'Address that phones use' })
      await expect
        .poll(async () => (await addresses.locator('option').allTextContents()).toSorted())
        .toEqual([machine.address, other].toSorted())
      await addresses.selectOption(other)
      await key(page, 'Apply and continue').click()
      await at(page, 'Certificate')
      await page.getByRole('radio', { name: /^Continue without/ }).check()
      await key(page, 'Next').click()
      await at(page, 'Room')
      await key(page, 'Create room').click()
      const link = await scanCode(page.getByRole('img', { name: 'QR code of the room' }))
      expect(link.startsWith(`http://${other}:`)).toBe(true)
      expect((await controller.rpc('settings.get', undefined)).listeners.link_address).toBe(other)
    },
    120_000,
  )
})

/** Opens the console of a controller in a browser that takes its certificate. */
async function openWith(controller: Headless): Promise<Page> {
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
  return page
}
