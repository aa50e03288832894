import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'
import { ConsolePages } from '../e2e/console-pages.ts'
import { fillDateTime } from '../e2e/date-time-field.ts'
import { keyboardStory } from '../e2e/stories/keyboard.ts'
import { shared } from '../support/fixtures.ts'

/** Meetings that an operator arranges in the headless console: guests who wait, schedules, templates. */
describe('an operator arranges meetings', () => {
  const site = shared(() => RoomSite.start())
  const operator = shared(async () => {
    const key = (await readFile(`${site().controller.folder}/console.key`, 'utf8')).trim()
    return await site().open(`${site().controller.ready.console}/#key=${key}`, {
      viewport: { width: 1_360, height: 900 },
    })
  })
  const page = shared(async () => {
    const page: Page = operator().page
    await page.getByRole('navigation').waitFor()
    return page
  })

  test('a guest waits without a host: the operator reads it on any page, writes to them and lets them in', async () => {
    const lobby = await site().room({ topic: 'Interview', waiting_room: true })
    const guest = await site().open(await site().link(lobby), { equipment: 'none' })
    await guest.page.getByLabel('Your name').fill('Bo')
    await guest.page.getByRole('button', { name: /^Join/ }).click()
    await guest.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
    await page().getByRole('navigation').getByRole('link', { name: 'Devices' }).click()
    const notice = page().getByRole('region', { name: 'Waiting guests' })
    await notice.getByText('Bo is waiting to be let into “Interview”').waitFor()
    await page().getByRole('navigation').getByText('1 person is waiting').waitFor({ state: 'attached' })
    expect(await operator().accessibilityProblems()).toEqual([])
    await notice.getByRole('button', { name: 'Show' }).click()
    const panel = page().getByRole('region', { name: 'Waiting to be let in' })
    await panel.getByRole('button', { name: 'Send a message: Bo' }).click()
    const dialog = page().getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Two minutes, please')
    expect(await operator().accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await guest.page.getByText('Two minutes, please').waitFor()
    expect(await guest.accessibilityProblems()).toEqual([])
    await panel.getByRole('button', { name: 'Let in: Bo' }).click()
    await guest.page.getByRole('toolbar').waitFor()
    await panel.waitFor({ state: 'detached' })
    await guest.close()
  })

  test('a message that the operator is writing closes when its guest leaves, also for the next guest', async () => {
    const lobby = await site().room({ topic: 'Reception', waiting_room: true })
    const link = await site().link(lobby)
    const waits = async (name: string) => {
      const guest = await site().open(link, { equipment: 'none' })
      await guest.page.getByLabel('Your name').fill(name)
      await guest.page.getByRole('button', { name: /^Join/ }).click()
      await guest.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
      return guest
    }
    const panel = page().getByRole('region', { name: 'Waiting to be let in' })
    const bo = await waits('Bo')
    await page().getByRole('region', { name: 'Waiting guests' }).getByRole('button', { name: 'Show' }).click()
    await panel.getByRole('button', { name: 'Send a message: Bo' }).click()
    await page().getByRole('dialog').waitFor()
    await bo.close()
    await panel.waitFor({ state: 'detached' })
    const cy = await waits('Cy')
    await panel.getByRole('button', { name: 'Send a message: Cy' }).waitFor()
    expect(await page().getByRole('dialog').count()).toBe(0)
    await cy.close()
    await panel.waitFor({ state: 'detached' })
  })

  test('the operator schedules a weekly meeting; a guest who comes early reads when it begins, and is let in at the start', async () => {
    await page().getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
    await page().getByRole('button', { name: 'New room' }).first().click()
    const dialog = page().getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('Weekly review')
    await dialog.getByText('Scheduled: the room is open only during its meetings').click()
    await fillDateTime(dialog, 'First meeting', '1 Dec 2099', '9')
    await dialog.getByRole('combobox', { name: 'Repeats' }).selectOption('Weekly')
    await dialog.getByRole('group', { name: 'On' }).getByText('Thu', { exact: true }).click()
    await dialog.getByText(/^Every Tuesday and Thursday, 09:00 to 10:00/).waitFor()
    await dialog.getByText('Next: Tue 1 Dec').waitFor()
    expect(await operator().accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Create room' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page()
      .getByText(/^Every Tuesday and Thursday, 09:00 to 10:00/)
      .waitFor()
    const { items } = await site().controller.rpc('rooms.list', { search: 'Weekly review' })
    const { room_id = '', schedule } = items[0] ?? {}
    expect(schedule).toMatchObject({ start: '2099-12-01T09:00', rule: 'FREQ=WEEKLY;BYDAY=TU,TH' })

    const link = await site().link(room_id)
    const guest = await site().open(link, { equipment: 'none', locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    await guest.page.getByLabel('Ihr Name').fill('Dana')
    // Little is left to do until then, even on a busy machine.
    const soon = new Date(Date.now() + 4_000)
    const start = soon.toISOString().slice(0, 19)
    await site().controller.rpc('rooms.update', {
      room_id,
      schedule: { start, minutes: 30, zone: 'UTC', early_minutes: 0 },
    })
    await guest.page.getByRole('button', { name: /^Nur zusehen/ }).click()
    const time = soon.toLocaleTimeString('de-DE', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' })
    await guest.page.getByRole('heading', { name: `Die Besprechung beginnt um ${time}` }).waitFor()
    await guest.page.getByText('Mitteleuropäische').waitFor()
    await guest.page.getByRole('toolbar').waitFor()
    await page().getByText('Open now, until').waitFor()
    await page().getByRole('button', { name: 'End meeting' }).click()
    await page().getByRole('dialog').getByRole('button', { name: 'End meeting' }).click()
    await guest.page.getByRole('heading', { name: 'Der Raum wurde geschlossen' }).waitFor()
    await guest.close()
  })

  test('the operator saves a room as a template, creates the next one from it, and deletes the template', async () => {
    const room_id = await site().room({ topic: 'Jury', waiting_room: true, attendee_max: 12 })
    await page().goto(`${site().controller.ready.console}/#/rooms/${room_id}`)
    await page().getByRole('button', { name: 'More actions for this room' }).click()
    await page().getByRole('menuitem', { name: 'Save as template' }).click()
    const naming = page().getByRole('dialog', { name: 'Save room as template' })
    await naming.getByRole('textbox', { name: 'Name' }).fill('Jury room')
    await naming.getByRole('button', { name: 'Save' }).click()
    await page().getByText('Template “Jury room” saved').waitFor()
    await page().getByRole('button', { name: 'New room' }).first().click()
    const dialog = page().getByRole('dialog', { name: 'New room' })
    await dialog.getByRole('textbox', { name: 'Topic' }).fill('Jury of May')
    await dialog.getByRole('combobox', { name: 'Template' }).selectOption('Jury room')
    expect(await operator().accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Create room' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { items } = await site().controller.rpc('rooms.list', { search: 'Jury of May' })
    expect(items[0]).toMatchObject({ waiting_room: true, attendee_max: 12 })

    await page().getByRole('button', { name: 'Templates', exact: true }).click()
    const list = page().getByRole('dialog', { name: 'Room templates' })
    await list.getByRole('button', { name: 'Edit: Jury room' }).click()
    const template = page().getByRole('dialog', { name: 'Edit template' })
    await template.getByRole('textbox', { name: 'Name' }).fill('Court')
    await template.getByLabel('Max. participants').fill('20')
    expect(await operator().accessibilityProblems()).toEqual([])
    await template.getByRole('button', { name: 'Save' }).click()
    await list.getByRole('button', { name: 'Edit: Court' }).waitFor()
    const [saved] = await site().controller.rpc('templates.list', {})
    expect(saved).toMatchObject({ name: 'Court', settings: { waiting_room: true, attendee_max: 20 } })
    await list.getByRole('button', { name: 'Delete: Court' }).click()
    await page()
      .getByRole('dialog', { name: /^Delete template/ })
      .getByRole('button', { name: 'Delete' })
      .click()
    await list.getByText('No templates yet').waitFor()
    await new ConsolePages(page()).closeDialog('Room templates')
  })

  test('“Join now” opens a tab that is host of the room and sees who waits; a refused tab is reported, and the log names the operator', async () => {
    const lobby = await site().room({ topic: 'Hearing', waiting_room: true })
    const guest = await site().open(await site().link(lobby), { equipment: 'none' })
    await guest.page.getByLabel('Your name').fill('Cleo')
    await guest.page.getByRole('button', { name: /^Join/ }).click()
    await guest.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
    await page().getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
    await page().getByRole('button', { name: 'More actions: Hearing' }).click()
    const [tab] = await Promise.all([
      page().context().waitForEvent('page'),
      page().getByRole('menuitem', { name: 'Join now' }).click(),
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
    // Her own link makes hosts: the page has one made for guests.
    await page().context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.getByRole('button', { name: 'More', exact: true }).click()
    await tab.getByRole('menuitem', { name: 'Copy the invitation' }).click()
    await tab.getByText('The invitation was copied').waitFor()
    const invitation = String(await tab.evaluate('navigator.clipboard.readText()'))
    expect(invitation).toMatch(/^You are invited to “Hearing”\.\nJoin here: http/)
    const second = await site().open(invitation.slice(invitation.indexOf('http')), { equipment: 'none' })
    await second.page.getByLabel('Your name').fill('Dario')
    await second.page.getByRole('button', { name: /^Join/ }).click()
    await second.page.getByRole('heading', { name: 'Waiting for the host to let you in' }).waitFor()
    await second.close()
    const { users } = await site().controller.rpc('rooms.get', { room_id: lobby })
    expect(users.find(({ user_name }) => user_name === 'Olga')).toMatchObject({ role: 'host' })
    const { items } = await site().controller.rpc('events.list', { subject: { type: 'room', id: lobby } })
    expect(items).toContainEqual(
      expect.objectContaining({
        actor: expect.objectContaining({ type: 'operator', name: 'console key' }),
        params: expect.objectContaining({ procedure: 'media.join_now' }),
      }),
    )
    await tab.close()
    await guest.close()

    await page().evaluate('window.open = () => null')
    await page().getByText('Hearing').first().click()
    await page().getByRole('button', { name: 'Join now' }).click()
    await page().getByText('Your browser blocked the new tab').waitFor()
  })

  keyboardStory(() => site())

  test('causes no errors in the page', () => {
    expect(operator().problems).toEqual([])
  })
})
