import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'
import { ConsolePages } from '../e2e/console-pages.ts'
import { fillDateTime } from '../e2e/date-time-field.ts'
import { shared } from '../support/fixtures.ts'

/** Media in the headless console, while users and a camera are in a room. */
describe('an operator watches a room', () => {
  const frames = 'document.querySelector("figure video")?.getVideoPlaybackQuality().totalVideoFrames'

  const site = shared(() => RoomSite.start())
  const room = shared(async () => {
    const room = await site().room({ topic: 'Night shift' })
    await site().camera(room, 'gate', 'North gate')
    return room
  })
  const ann = shared(async () => {
    const ann = await site().join(await site().link(room(), { user_id: 'ann', user_name: 'Ann' }))
    await ann.sees('North gate')
    return ann
  })
  const operator = shared(async () => {
    const key = (await readFile(`${site().controller.folder}/console.key`, 'utf8')).trim()
    return await site().open(`${site().controller.ready.console}/#key=${key}`, {
      viewport: { width: 1_360, height: 900 },
      acceptDownloads: true,
    })
  })
  const page = shared(async () => {
    const page: Page = operator().page
    await page.getByRole('navigation').waitFor()
    return page
  })

  const pages = (): ConsolePages => new ConsolePages(page())

  /** Opens the room from the list, wherever the console is. */
  async function openRoom(): Promise<void> {
    for (const name of ['Overview', 'Rooms'] as const) await pages().go(name)
    await pages().row('Night shift').click()
  }

  test('a device is shown live, and its snapshot is a JPEG of full size', async () => {
    // Another page may show the device, too, and stays until this one is loaded.
    await pages().go('Devices')
    await pages().row('North gate').click()
    await operator().until(`${frames} > 5`)
    await page()
      .getByText(/H264 640×360 · \d+ fps/)
      .waitFor()
    const [download] = await Promise.all([
      page().waitForEvent('download'),
      page().getByRole('button', { name: 'Save a snapshot' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^North-gate_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.jpg$/)
    const picture = await readFile(await download.path())
    expect(picture.subarray(0, 3).toString('hex')).toBe('ffd8ff')
    expect(picture.length).toBeGreaterThan(2_000)
  })

  test('the room shows every stream with codec and rate, and the connections of users; watching adds no user', async () => {
    await openRoom()
    const streams = page().locator('.people')
    const person = (name: string) => streams.getByRole('listitem').filter({ hasText: name })
    await person('North gate').getByText('H264 + PCMU').waitFor()
    await person('Ann').getByText('VP8 + OPUS').waitFor()
    await person('Ann').getByTitle('Camera on').waitFor()
    await ann().page.keyboard.press('m')
    await person('Ann').getByTitle('Microphone off').waitFor()
    await streams
      .getByText(/kbit\/s|Mbit\/s/)
      .first()
      .waitFor()
    await page().locator('.connection').first().waitFor()
    await streams.getByRole('button', { name: 'Watch: Ann' }).click()
    await operator().until(`${frames} > 5`)
    const users = async () => (await site().controller.rpc('rooms.get', { room_id: room() })).users
    await expect.poll(users).toHaveLength(2)
    await streams.getByRole('button', { name: 'Stop watching: Ann' }).click()
    await page().locator('figure').waitFor({ state: 'detached' })
    expect(await operator().accessibilityProblems()).toEqual([])
  })

  test('a join link made in the console admits its user', async () => {
    await openRoom()
    await page().getByRole('button', { name: 'Invite' }).click()
    const dialog = page().getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Invitee' }).fill('Chen')
    await dialog.getByRole('img', { name: 'QR code of the join link' }).waitFor()
    await page().context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await expect
      .poll(
        async () => {
          await dialog.getByRole('button', { name: 'Copy link' }).click()
          const text = String(await page().evaluate('navigator.clipboard.readText()'))
          const { headers } = await fetch(text, { redirect: 'manual' })
          const claims = headers.get('location')?.split('#token=')[1]?.split('.')[0] ?? ''
          return Buffer.from(claims, 'base64url').toString()
        },
        { timeout: 10_000 },
      )
      .toContain('"Chen"')
    expect(await operator().accessibilityProblems()).toEqual([])
    const chen = await site().join(String(await page().evaluate('navigator.clipboard.readText()')))
    await chen.sees('North gate')
    await chen.close()
    await fillDateTime(dialog, 'Start', '6 May 2030', '14:00')
    expect(await dialog.getByText('This link expires before the meeting ends').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Copy invitation' }).click()
    const invitation = String(await page().evaluate('navigator.clipboard.readText()'))
    expect(invitation).toMatch(
      /^You are invited to “Night shift”.\n\nTime: 6 May 2030, 14:00 ?– ?15:00 .+\nAddress: http/,
    )
    expect(invitation).toContain('The link is for Chen only.')
    const [download] = await Promise.all([
      page().waitForEvent('download'),
      dialog.getByRole('button', { name: 'Calendar file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${room()}.ics`)
    const calendar = await readFile(await download.path(), 'utf8')
    expect(calendar).toMatch(/\r\nSUMMARY:Night shift\r\n/)
    expect(calendar).toMatch(/\r\nDTSTART:20300506T\d{6}Z\r\n/)
    expect(calendar.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true)
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()
  })

  test('the operator removes a user, whose page says so', async () => {
    const bo = await site().join(await site().link(room(), { user_id: 'bo', user_name: 'Bo' }))
    await openRoom()
    await page().getByRole('button', { name: 'More actions: Bo' }).click()
    await page().getByRole('menuitem', { name: 'Remove from room' }).click()
    await page().getByRole('dialog').getByRole('button', { name: 'Remove from room' }).click()
    await bo.page.getByRole('heading', { name: 'You were removed from the room' }).waitFor()
    expect([...operator().problems, ...ann().problems, ...bo.problems]).toEqual([])
    await bo.close()
  })
})
