import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

/** A room that can be joined by number: the operator allows it, users join, one of them is removed. The stories follow each other. */
describe('a room that can be joined by number', () => {
  let site: RoomSite
  let operator: Visitor
  let page: Page
  let room: string
  let ann: Visitor
  let bo: Visitor
  const equipment = 'none'
  const byNumber = (number: string) => `${site.controller.ready.media}/jroom/?roomId=${number}`
  beforeAll(async () => {
    site = await RoomSite.start()
    const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
    operator = await site.open(`${site.controller.ready.console}/#key=${key}`, {
      equipment,
      viewport: { width: 1_360, height: 900 },
    })
    page = operator.page
    await page.getByRole('navigation').getByRole('link', { name: 'Rooms' }).click()
  })
  afterAll(() => site[Symbol.asyncDispose]())

  test("the operator creates it: the dialog shows the site's default, and the room shows it afterwards", async () => {
    await page.getByRole('button', { name: 'New room' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Topic').fill('Open house')
    await dialog.getByLabel('Host password').fill('open sesame')
    await dialog.getByText('More: joining by number').click()
    const entry = dialog.getByLabel('Joining by room number')
    await entry.locator('option', { hasText: 'Site default (now: not allowed)' }).waitFor({ state: 'attached' })
    await entry.selectOption('Anyone who knows the number can join')
    expect(await operator.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Create room' }).click()
    await page.getByText('anyone can join').waitFor()
    await page.getByRole('group', { name: 'Open house' }).and(page.locator(':focus')).waitFor()
    const { items } = await site.controller.rpc('rooms.list', { search: 'Open house' })
    room = items[0]?.room_id ?? ''
    expect(items).toMatchObject([{ entry_by_number: 'on', has_host_password: true }])
  })

  test('beside personal links the operator finds the address for everybody', async () => {
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(byNumber(room), { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Copy address' }).waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()
  })

  test('a user who knows the number enters a name and may enter the host password; the operator sees how they joined', async () => {
    ann = await site.open(byNumber(room), { equipment })
    await ann.page.getByText('For hosts only').waitFor()
    expect(await ann.accessibilityProblems()).toEqual([])
    await ann.enter('Ann')
    bo = await site.open(byNumber(room), { equipment })
    await bo.page.getByLabel('Your name').fill('Bo')
    await bo.page.getByLabel('Host password').fill('open sesame')
    await bo.page.getByRole('button', { name: /^Join/ }).click()
    await ann.tile('Bo').waitFor()
    const person = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await person('Ann').getByText('by room number').waitFor()
    await person('Bo').getByText('host', { exact: true }).waitFor()
    expect(await person('Bo').getByText('by room number').count()).toBe(0)
  })

  test('a reloaded page is the same user, under the current name', async () => {
    const ids = async () =>
      new Set((await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id))
    const before = await ids()
    await ann.page.reload()
    await ann.enter('Ann of Oslo')
    await bo.tile('Ann of Oslo').waitFor()
    expect(await ids()).toEqual(before)
  })

  test('a removed user cannot return at once in that browser; others can', async () => {
    await page.getByRole('button', { name: 'More actions: Ann of Oslo' }).click()
    await page.getByRole('menuitem', { name: 'Remove from room' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from room' }).click()
    await ann.page.getByRole('heading', { name: 'You were removed from the room' }).waitFor()
    await ann.page.reload()
    await ann.page.getByLabel('Your name').fill('Somebody else')
    await ann.page.getByRole('button', { name: /^Join/ }).click()
    await ann.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor()
    const carl = await site.open(byNumber(room), { equipment })
    await carl.enter('Carl')
    await carl.close()
  })

  test('a locked room says so, and admits the user when it is unlocked', async () => {
    await site.controller.rpc('rooms.lock', { room_ids: [room] })
    const dora = await site.open(byNumber(room), { equipment })
    await dora.page.getByLabel('Your name').fill('Dora')
    await dora.page.getByRole('button', { name: /^Join/ }).click()
    await dora.page.getByRole('heading', { name: 'The room is locked' }).waitFor()
    await site.controller.rpc('rooms.unlock', { room_ids: [room] })
    await dora.page.getByRole('button', { name: 'Try again' }).click()
    await dora.enter()
    await dora.close()
  })

  test('without a host password the page asks for none; a closed number looks exactly like an unknown room', async () => {
    const plain = await site.open(byNumber(await site.room({ entry_by_number: 'on' })), { equipment })
    await plain.until("performance.getEntriesByType('resource').some(({ name }) => name.includes('/entry/'))")
    await plain.page.getByLabel('Your name').fill('Eve')
    expect(await plain.page.getByLabel('Host password').count()).toBe(0)
    await plain.enter('Eve')
    await plain.close()
    const texts = new Set<string>()
    for (const number of [await site.room({ host_password: 'x' }), '123456789']) {
      const visitor = await site.open(byNumber(number), { equipment })
      await visitor.page.getByText('The room number alone is not enough to join').waitFor()
      await visitor.page.getByLabel('Your name').fill('Eve')
      await visitor.page.getByRole('button', { name: /^Join/ }).click()
      await visitor.page.getByRole('alert').getByText('A join link is required').waitFor()
      texts.add((await visitor.page.locator('main').innerText()).replaceAll(number, 'N'))
      await visitor.close()
    }
    expect(texts.size).toBe(1)
  })

  test('a setting opens every room without its own choice', async () => {
    const number = await site.room()
    await page.goto(`${site.controller.ready.console}/#/settings/media`)
    await page.getByRole('switch', { name: 'Anyone who knows the number of a room can join it' }).press('Space')
    await page.getByRole('form', { name: 'Join links' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings were saved').waitFor()
    const fay = await site.open(byNumber(number), { equipment })
    await fay.enter('Fay')
    await fay.close()
    expect([...ann.problems, ...bo.problems, ...operator.problems]).toEqual([])
  })
})
