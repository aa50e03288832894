import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWindows, type Windows } from '../support/chromium.ts'
import { type Headless, startHeadless } from '../support/headless.ts'

let site: Headless
let browsers: Windows
beforeAll(async () => {
  site = await startHeadless({ flags: ['--host', '0.0.0.0'] })
  browsers = await openWindows()
})
afterAll(async () => {
  await browsers.close()
  await site.remove()
})

test('a phone scans the code, and the page of the operator shows the visit at once', async () => {
  await site.rpc('overview.dismiss_welcome', {})
  const key = (await readFile(join(site.folder, 'console.key'), 'utf8')).trim()
  const page = await browsers.newPage({ locale: 'en-GB' })
  await page.goto(`${site.ready.console.replace('0.0.0.0', '127.0.0.1')}/#key=${key}`)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Check this machine' }).click()
  const card = page.getByRole('region', { name: 'Try it with a phone' })
  await card.getByText('Waiting for the phone…').waitFor()
  const url = new URL(await card.locator('code').innerText())

  const phone = await browsers.newPage({ viewport: { width: 390, height: 700 }, locale: 'de-DE' })
  await phone.goto(url.href)
  await phone.getByRole('heading', { name: 'Verbunden' }).waitFor()
  // It is a browser of this machine.
  await card.getByText('Opened on this machine: use another device').waitFor()

  const sent = http.get({ port: url.port, path: url.pathname, localAddress: '127.0.0.2', agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await card.getByText(/^Reached: 127\.0\.0\.2 at /).waitFor()
  const list = page.getByRole('region', { name: 'Readiness' })
  await list.getByText('A device at 127.0.0.2 opened the page').waitFor()
  await list.getByText('A device at 127.0.0.2 connected').waitFor()
  await list.getByText('It agrees with the clock of the machine.').waitFor()
  await page.getByRole('button', { name: 'Check again' }).click()
  await expect.poll(() => list.locator('[aria-busy="true"]').count()).toBe(0)
}, 60_000)
