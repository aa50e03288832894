import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { keyboardStory } from './stories/keyboard.ts'

/** Media in the headless console, while users and a camera are in a room. */
describe('an operator watches a room', () => {
  let site: RoomSite
  let room: string
  let ann: Visitor
  let operator: Visitor
  let page: Page
  const frames = 'document.querySelector("figure video")?.getVideoPlaybackQuality().totalVideoFrames'
  beforeAll(async () => {
    site = await RoomSite.start()
    room = await site.room({ topic: 'Night shift' })
    await site.camera(room, 'gate', 'North gate')
    ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    await ann.sees('North gate')
    const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
    operator = await site.open(`${site.controller.ready.console}/#key=${key}`, {
      viewport: { width: 1_360, height: 900 },
      acceptDownloads: true,
      ignoreHTTPSErrors: true,
    })
    page = operator.page
    await page.getByRole('navigation').waitFor()
  })
  afterAll(() => site[Symbol.asyncDispose]())

  test('a device is shown live, and its snapshot is a JPEG of full size', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).click()
    await page.getByText('North gate').first().click()
    await operator.until(`${frames} > 5`)
    await page.getByText(/H264 640×360 · \d+ fps/).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save a snapshot' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^North-gate_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.jpg$/)
    const picture = await readFile(await download.path())
    expect(picture.subarray(0, 3).toString('hex')).toBe('ffd8ff')
    expect(picture.length).toBeGreaterThan(2_000)
  })

  test('the room shows every stream with codec and rate, and the connections of users; watching adds no user', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
    await page.getByText('Night shift').first().click()
    const streams = page.locator('.people')
    const person = (name: string) => streams.getByRole('listitem').filter({ hasText: name })
    await person('North gate').getByText('H264 + PCMU').waitFor()
    await person('Ann').getByText('VP8 + OPUS').waitFor()
    await person('Ann').getByTitle('Camera on').waitFor()
    await ann.page.keyboard.press('m')
    await person('Ann').getByTitle('Microphone off').waitFor()
    await streams
      .getByText(/kbit\/s|Mbit\/s/)
      .first()
      .waitFor()
    await page.locator('.connection').first().waitFor()
    await streams.getByRole('button', { name: 'Watch: Ann' }).click()
    await operator.until(`${frames} > 5`)
    expect((await site.controller.rpc('rooms.get', { room_id: room })).users).toHaveLength(2)
    await streams.getByRole('button', { name: 'Stop watching: Ann' }).click()
    await page.locator('figure').waitFor({ state: 'detached' })
    expect(await operator.accessibilityProblems()).toEqual([])
  })

  test('a join link made in the console admits its user', async () => {
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Invitee' }).fill('Chen')
    await dialog.getByRole('img', { name: 'QR code of the join link' }).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await expect
      .poll(
        async () => {
          await dialog.getByRole('button', { name: 'Copy link' }).click()
          const text = String(await page.evaluate('navigator.clipboard.readText()'))
          return Buffer.from(new URL(text).hash.slice('#token='.length).split('.')[0] ?? '', 'base64url').toString()
        },
        { timeout: 10_000 },
      )
      .toContain('"Chen"')
    expect(await operator.accessibilityProblems()).toEqual([])
    const chen = await site.join(String(await page.evaluate('navigator.clipboard.readText()')))
    await chen.sees('North gate')
    await chen.close()
    await dialog.getByLabel(/^Start/).fill('2030-05-06T14:00')
    await dialog.getByText('This link expires before the meeting ends').waitFor()
    await dialog.getByRole('button', { name: 'Copy invitation' }).click()
    const invitation = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(invitation).toMatch(
      /^You are invited to “Night shift”.\n\nTime: 6 May 2030, 14:00 ?– ?15:00 .+\nAddress: http/,
    )
    expect(invitation).toContain('The link is for Chen only.')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Calendar file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${room}.ics`)
    const calendar = await readFile(await download.path(), 'utf8')
    expect(calendar).toMatch(/\r\nSUMMARY:Night shift\r\n/)
    expect(calendar).toMatch(/\r\nDTSTART:20300506T\d{6}Z\r\n/)
    expect(calendar.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true)
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()
  })

  test('the operator removes a user, whose page says so', async () => {
    await page.getByRole('button', { name: 'More actions: Ann' }).click()
    await page.getByRole('menuitem', { name: 'Remove from room' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from room' }).click()
    await ann.page.getByRole('heading', { name: 'You were removed from the room' }).waitFor()
    expect([...operator.problems, ...ann.problems]).toEqual([])
  })

  test('a guest waits without a host: the operator reads it on any page, writes to them and lets them in', async () => {
    const lobby = await site.room({ topic: 'Interview', waiting_room: true })
    const guest = await site.open(await site.link(lobby), { equipment: 'none' })
    await guest.page.getByLabel('Your name').fill('Bo')
    await guest.page.getByRole('button', { name: /^Join/ }).click()
    await guest.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).click()
    const notice = page.getByRole('region', { name: 'Waiting guests' })
    await notice.getByText('Bo is waiting to be let into “Interview”').waitFor()
    await page.getByRole('navigation').getByText('1 person is waiting').waitFor({ state: 'attached' })
    expect(await operator.accessibilityProblems()).toEqual([])
    await notice.getByRole('button', { name: 'Show' }).click()
    const panel = page.getByRole('region', { name: 'Waiting to be let in' })
    await panel.getByRole('button', { name: 'Send a message: Bo' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Two minutes, please')
    expect(await operator.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await guest.page.getByText('Two minutes, please').waitFor()
    expect(await guest.accessibilityProblems()).toEqual([])
    await panel.getByRole('button', { name: 'Let in: Bo' }).click()
    await guest.page.getByRole('toolbar').waitFor()
    await panel.waitFor({ state: 'detached' })
    await guest.close()
  })

  test('the operator schedules a weekly meeting; a guest who comes early reads when it begins, and is let in at the start', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
    await page.getByRole('button', { name: 'New room' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('Weekly review')
    await dialog.getByText('Scheduled: the room is open only during its meetings').click()
    await dialog.getByLabel('First meeting').fill('2099-12-01T09:00')
    await dialog.getByRole('combobox', { name: 'Repeats' }).press('Enter')
    await page.getByRole('option', { name: 'Weekly' }).click()
    await dialog.getByText('Thu', { exact: true }).click()
    await dialog.getByText(/^Every Tuesday and Thursday, 09:00 to 10:00/).waitFor()
    await dialog.getByText('Next: Tue 1 Dec').waitFor()
    expect(await operator.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Create room' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(/^Every Tuesday and Thursday, 09:00 to 10:00/).waitFor()
    const { items } = await site.controller.rpc('rooms.list', { search: 'Weekly review' })
    const { room_id = '', schedule } = items[0] ?? {}
    expect(schedule).toMatchObject({ start: '2099-12-01T09:00', rule: 'FREQ=WEEKLY;BYDAY=TU,TH' })

    const link = await site.link(room_id)
    const guest = await site.open(link, { equipment: 'none', locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    const soon = new Date(Date.now() + 4_000)
    const start = soon.toISOString().slice(0, 19)
    await site.controller.rpc('rooms.update', {
      room_id,
      schedule: { start, minutes: 30, zone: 'UTC', early_minutes: 0 },
    })
    await guest.page.getByLabel('Ihr Name').fill('Dana')
    await guest.page.getByRole('button', { name: /^Nur zusehen/ }).click()
    const time = soon.toLocaleTimeString('de-DE', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' })
    await guest.page.getByRole('heading', { name: `Die Besprechung beginnt um ${time}` }).waitFor()
    await guest.page.getByText('Mitteleuropäische').waitFor()
    await guest.page.getByRole('toolbar').waitFor()
    await page.getByText('Open now, until').waitFor()
    await page.getByRole('button', { name: 'End meeting' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End meeting' }).click()
    await guest.page.getByRole('heading', { name: 'Der Raum wurde geschlossen' }).waitFor()
    await guest.close()
  })

  test('the operator saves a room as a template, creates the next one from it, and deletes the template', async () => {
    const room_id = await site.room({ topic: 'Jury', waiting_room: true, attendee_max: 12 })
    await page.goto(`${site.controller.ready.console}/#/rooms/${room_id}`)
    await page.getByRole('button', { name: 'Save as template' }).click()
    const naming = page.getByRole('dialog', { name: 'Save room as template' })
    await naming.getByRole('textbox', { name: 'Name' }).fill('Jury room')
    await naming.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Template “Jury room” saved').waitFor()
    await page.getByRole('button', { name: 'New room' }).click()
    const dialog = page.getByRole('dialog', { name: 'New room' })
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('Jury of May')
    await dialog.getByRole('combobox', { name: 'Template' }).press('Enter')
    await page.getByRole('option', { name: 'Jury room' }).click()
    expect(await operator.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Create room' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { items } = await site.controller.rpc('rooms.list', { search: 'Jury of May' })
    expect(items[0]).toMatchObject({ waiting_room: true, attendee_max: 12 })

    await page.getByRole('button', { name: 'Templates', exact: true }).click()
    const list = page.getByRole('dialog', { name: 'Room templates' })
    await list.getByRole('button', { name: 'Rename: Jury room' }).click()
    await page.getByRole('dialog', { name: 'Rename template' }).getByRole('textbox', { name: 'Name' }).fill('Court')
    await page.getByRole('dialog', { name: 'Rename template' }).getByRole('button', { name: 'Save' }).click()
    await list.getByRole('button', { name: 'Delete: Court' }).click()
    await page
      .getByRole('dialog', { name: /^Delete template/ })
      .getByRole('button', { name: 'Delete' })
      .click()
    await list.getByText('No templates yet').waitFor()
    await list.getByRole('button', { name: 'Close' }).last().click()
  })

  test('“Join now” opens a tab that is host of the room and sees who waits; a refused tab is reported, and the log names the operator', async () => {
    const lobby = await site.room({ topic: 'Hearing', waiting_room: true })
    const guest = await site.open(await site.link(lobby), { equipment: 'none' })
    await guest.page.getByLabel('Your name').fill('Cleo')
    await guest.page.getByRole('button', { name: /^Join/ }).click()
    await guest.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
    await page.getByRole('button', { name: 'More actions: Hearing' }).click()
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('menuitem', { name: 'Join now' }).click(),
    ])
    await tab.getByLabel('Your name').fill('Olga')
    expect(await tab.evaluate('window.opener')).toBeNull()
    await tab.getByRole('button', { name: /^Join/ }).click()
    await tab.getByText('Cleo').first().waitFor()
    await tab
      .getByRole('button', { name: /^Let in/ })
      .first()
      .click()
    await guest.page.getByRole('toolbar').waitFor()
    const { users } = await site.controller.rpc('rooms.get', { room_id: lobby })
    expect(users.find(({ user_name }) => user_name === 'Olga')).toMatchObject({ role: 'host' })
    const { items } = await site.controller.rpc('events.list', { subject: { type: 'room', id: lobby } })
    expect(items).toContainEqual(
      expect.objectContaining({
        actor: expect.objectContaining({ type: 'operator', name: 'console key' }),
        params: expect.objectContaining({ procedure: 'media.join_now' }),
      }),
    )
    await tab.close()
    await guest.close()

    await page.evaluate('window.open = () => null')
    await page.getByText('Hearing').first().click()
    await page.getByRole('button', { name: 'Join now' }).click()
    await page.getByText('Your browser blocked the new tab').waitFor()
  })

  keyboardStory(() => site)

  test('TLS is switched on: two people of a meeting, with camera and chat as before, and the console are at https by themselves', async () => {
    const meeting = await site.room({ topic: 'Moving' })
    const everywhere = { ignoreHTTPSErrors: true }
    const dora = await site.join(await site.link(meeting), { name: 'Dora', ...everywhere })
    const eli = await site.join(
      await site.link(meeting, { user_id: 'eli', user_name: 'Eli', role: 'host' }),
      everywhere,
    )
    await dora.sees('Eli')
    await site.controller.rpc('settings.set', { tls: { mode: 'self-signed' } })
    const secure = /^https:/
    for (const visitor of [dora, eli]) await visitor.page.waitForURL(secure, { timeout: 40_000 })
    await Promise.all([dora.sees('Eli'), eli.sees('Dora')])
    await eli.button('More').click()
    await eli.page.getByRole('menuitem', { name: 'Lock the room' }).waitFor()
    expect(await dora.page.evaluate('location.hash')).toMatch(/^#token=[^&]+$/)
    await page.waitForURL(secure, { timeout: 40_000 })
    await Promise.all([dora.close(), eli.close()])
  })
})
