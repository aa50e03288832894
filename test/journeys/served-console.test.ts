import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openWindows } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { violations } from '../support/axe.ts'
import { launch } from '../e2e/desktop.ts'
import { shared } from '../support/fixtures.ts'

describe('the console of the desktop app in other browsers', () => {
  const served = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port()}${path}`, init)

  const desktop = shared(() => launch())
  const port = shared(async () => {
    const port = await freePort()
    await desktop().call('settings.set', { listeners: { console_port: port } })
    return port
  })
  const browsers = shared(() => openWindows([]))
  const serve = (serve_console: boolean) => desktop().call('settings.set', { listeners: { serve_console } })

  test('readiness: the window finds the page, which also checks what only the app can check, and says what to do', async () => {
    await serve(false)
    const { page } = desktop()
    // A page that is not there yet hears no keys.
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('readiness')
    await page.getByRole('option', { selected: true }).filter({ hasText: 'Readiness' }).first().waitFor()
    await page.keyboard.press('Enter')
    const list = page.getByRole('region', { name: 'Readiness' })
    const line = (name: string) => list.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
    await line('Ports').getByText('All 3 ports listen, for this machine only.').waitFor()
    await line('Reachable from a phone').getByText('Settings › Network').waitFor()
    await line('Power').getByText('This computer stays awake').waitFor()
    for (const name of [
      'Tray icon',
      'Sandbox of pages',
      'Key of stored secrets',
      'Disk speed',
      'Conversion of cameras',
    ])
      await line(name).and(list.locator('.good, .attention, .unchecked')).waitFor()
    await list.getByText(/check(s need| needs) attention/).waitFor()
    expect(await page.getByText('Clock of this browser').count()).toBe(0)
    await page.getByText('Other devices cannot connect').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('nothing listens until the operator switches it on, in the settings', async () => {
    await serve(false)
    await expect(served('/healthz')).rejects.toThrow('fetch failed')
    const { page } = desktop()
    await page.evaluate(`location.hash = '#/settings/network'`)
    const card = page.getByRole('form', { name: 'Console in browsers' })
    await page
      .getByRole('navigation', { name: 'Settings sections' })
      .getByRole('link', { name: 'Accounts' })
      .waitFor({ state: 'detached' })
    await card.getByText('Serve the console to browsers').click()
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByText(`http://127.0.0.1:${port()}`).waitFor()
    await card.getByText('Only browsers on this computer reach it').waitFor()
    await page.getByRole('navigation', { name: 'Settings sections' }).getByRole('link', { name: 'Accounts' }).waitFor()
    expect(await violations(page)).toEqual([])
    expect((await served('/healthz')).status).toBe(200)
  })

  test('a second operator signs in with the key, and sees what the window changes; scripts and monitoring reach the same port', async () => {
    await serve(true)
    const key = (await readFile(join(desktop().userData, 'site/console.key'), 'utf8')).trim()
    const context = await browsers().newContext({ locale: 'en-GB' })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${port()}/#key=${key}`)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rooms' }).click()
    const { room_id } = (await desktop().call('rooms.create', { topic: 'Seen by both' })) as { room_id: string }
    onTestFinished(async () => void (await desktop().call('rooms.delete', { room_ids: [room_id] })))
    await page.getByText('Seen by both').first().waitFor()

    expect(await (await served('/metrics')).text()).toContain('roomdesk_')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await served('/rpc/rooms.list', { method: 'POST', headers, body: '{}' })
    expect(await answer.json()).toMatchObject({ ok: true, value: { total: 1 } })
    expect((await served('/rpc/rooms.list', { method: 'POST', body: '{}' })).status).toBe(401)
    await context.close()
  })

  test('switched off, it is gone; the window keeps working', async () => {
    await serve(true)
    expect((await served('/healthz')).status).toBe(200)
    await serve(false)
    await expect(served('/healthz')).rejects.toThrow('fetch failed')
    expect(await desktop().call('rooms.list')).toMatchObject({ total: 0 })
  })
})
