import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConsolePages } from '../e2e/console-pages.ts'
import { violations } from '../support/axe.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'

let site: ConsoleUnderTest
/** Console of a second operator at the same controller. */
let other: Page

beforeAll(async () => {
  site = await openConsole('headless')
  other = await site.page.context().newPage()
  other.setDefaultTimeout(15_000)
  await other.goto(site.page.url())
  await other.getByRole('navigation').first().waitFor()
})
afterAll(() => site[Symbol.asyncDispose]())

const roomOf = async (topic: string): Promise<string> => (await site.call('rooms.create', { topic })).room_id
const room = async (room_id: string) => (await site.call('rooms.get', { room_id })).room

/** Opens the dialog that edits a room. */
async function edit(page: Page, room_id: string) {
  const pages = new ConsolePages(page)
  await pages.go('Rooms')
  await pages.actOnRow(room_id, 'Edit')
  const form = pages.dialog(`Edit room ${room_id}`)
  await form.waitFor()
  return {
    form,
    topic: form.getByLabel('Topic'),
    waitingRoom: form.getByText('The host lets people in'),
    save: () => form.getByRole('button', { name: 'Save', exact: true }).click(),
    saved: () => form.waitFor({ state: 'hidden' }),
  }
}

test('two operators edit one room: the topic of one and the waiting room of the other are both kept', async () => {
  const id = await roomOf('Board')
  const [mine, theirs] = [await edit(site.page, id), await edit(other, id)]
  await theirs.waitingRoom.click()
  await theirs.save()
  await theirs.saved()
  await mine.topic.fill('Council')
  await mine.save()
  await mine.saved()
  expect(await room(id)).toMatchObject({ topic: 'Council', waiting_room: true })
})

test('both change the topic: the second one sees both values and who changed it, by keyboard, and chooses', async () => {
  const id = await roomOf('Hall')
  const { page } = site
  const conflict = new ConsolePages(page).dialog('Changed meanwhile')
  const save = conflict.getByRole('button', { name: 'Save', exact: true })
  const [first, second] = [await edit(page, id), await edit(other, id)]
  await second.topic.fill('North hall')
  await second.save()
  await second.saved()
  await first.topic.fill('South hall')
  await first.waitingRoom.click()
  await first.save()

  await conflict.getByText('South hall').waitFor()
  await conflict.getByText('North hall').waitFor()
  await conflict.getByText(/^Changed by Console key, \d\d:\d\d/).waitFor()
  expect(await save.isDisabled()).toBe(true)
  expect(await violations(page, 'colours')).toEqual([])
  // Going on with editing loses nothing.
  await page.keyboard.press('Escape')
  await conflict.waitFor({ state: 'hidden' })
  expect(await first.topic.inputValue()).toBe('South hall')

  await first.topic.press('Enter')
  await conflict.getByRole('radio').first().focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  expect(await conflict.getByRole('radio', { checked: true }).count()).toBe(1)
  expect(await save.isDisabled()).toBe(false)
  await page.keyboard.press('Enter')
  await first.saved()
  // The current value was chosen; the waiting room did not overlap.
  expect(await room(id)).toMatchObject({ topic: 'North hall', waiting_room: true })

  const again = await edit(page, id)
  await site.call('rooms.update', { room_id: id, topic: 'West hall', host_password: 'secret-1' })
  await again.topic.fill('East hall')
  await again.form.getByLabel('Host password').fill('secret-2')
  await again.save()
  await conflict.getByText('hidden').first().waitFor()
  expect(await conflict.innerText()).not.toContain('secret-')
  for (const choice of await conflict.getByText('Your value').all()) await choice.click()
  await save.click()
  await again.saved()
  expect((await room(id)).topic).toBe('East hall')
  expect(await site.call('rooms.reveal_password', { room_id: id })).toEqual({ host_password: 'secret-2' })
})

/** How one kind of record is edited. */
interface EditedKind {
  /** Opens the form and changes a field in it. @returns saves the form */
  edit: (page: Page) => Promise<() => Promise<void>>
  /** Another operator changes the same field, and another one. */
  others: () => Promise<unknown>
  /** The field, and its values as the dialog shows them. */
  field: string
  values: readonly [mine: string, theirs: string]
  /** Both fields as they are stored. */
  stored: () => Promise<unknown>
  expected: unknown
}

/** Opens a page of the console by its address. */
async function open(page: Page, route: string): Promise<void> {
  await page.goto(`${page.url().split('#')[0]}#${route}`)
  // The page begins anew, without dialogs.
  await page.reload()
}

/** Changes a field of the form in front. @returns saves the form */
async function change(form: Locator, label: string, value: string) {
  await form.getByLabel(new RegExp(`^${label}( · optional)?$`)).fill(value)
  return () => form.getByRole('button', { name: 'Save', exact: true }).click()
}

const kinds: Record<'device' | 'node' | 'wall view' | 'settings card' | 'template', () => Promise<EditedKind>> = {
  async device() {
    const roomId = await roomOf('Gatehouse')
    await site.call('devices.create', { roomId, userId: 'gate', userName: 'Gate', userAddress: 'rtsp://127.0.0.1:9/1' })
    return {
      async edit(page) {
        await open(page, '/devices')
        await new ConsolePages(page).actOnRow('Gate', 'Edit')
        return await change(page.getByRole('dialog', { name: 'Edit Gate' }), 'Name', 'North gate')
      },
      others: () => site.call('devices.update', { userId: 'gate', userName: 'South gate', userData: 'lane 2' }),
      field: 'Name',
      values: ['North gate', 'South gate'],
      stored: async () => (await site.call('devices.list'))[0],
      expected: { userName: 'North gate', userData: 'lane 2' },
    }
  },
  async node() {
    const addresses = [{ tag: 'local', addr: '10.0.0.5:7082' }]
    await site.call('nodes.add', { name: 'Hall', kind: 'simulated', addresses })
    const node = async () => (await site.call('nodes.list')).find(({ config }) => config.name === 'Hall')
    return {
      async edit(page) {
        await open(page, '/nodes')
        await new ConsolePages(page).actOnRow('Hall', 'Edit')
        return await change(page.getByRole('dialog', { name: 'Edit node Hall' }), 'Weight', '3')
      },
      async others() {
        const expected_version = (await node())?.version
        await site.call('nodes.update', { name: 'Hall', expected_version, weight: 2, max_users: 50 })
      },
      field: 'Weight',
      values: ['3', '2'],
      stored: async () => (await node())?.config,
      expected: { weight: 3, max_users: 50, addresses },
    }
  },
  async 'wall view'() {
    const items = [{ kind: 'room' as const, id: 'lobby' }]
    const { id } = await site.call('wall.save', { name: 'Doors', items })
    const added = [...items, { kind: 'room' as const, id: 'yard' }]
    return {
      async edit(page) {
        await open(page, `/wall/${id}`)
        await page.getByRole('button', { name: 'More actions', exact: true }).click()
        await page.getByRole('menuitem', { name: 'Rename the view' }).click()
        return await change(page.getByRole('dialog', { name: 'Rename the view' }), 'Name of the view', 'Entrances')
      },
      others: () => site.call('wall.save', { id, name: 'Gates', items: added }),
      field: 'Name of the view',
      values: ['Entrances', 'Gates'],
      stored: async () => (await site.call('wall.list'))[0],
      expected: { name: 'Entrances', items: added },
    }
  },
  'settings card': () =>
    Promise.resolve({
      async edit(page) {
        await open(page, '/settings/rooms')
        return await change(page.getByRole('form', { name: 'Defaults for new rooms' }), 'Max. participants', '70')
      },
      others: () => site.call('settings.set', { room_defaults: { attendee_max: 80, max_video: 9 } }),
      field: 'Max. participants',
      values: ['70', '80'],
      stored: async () => (await site.call('settings.get')).room_defaults,
      expected: { attendee_max: 70, max_video: 9 },
    }),
  async template() {
    const { id } = await site.call('templates.save', { name: 'Talk', settings: { topic: 'Talk' } })
    return {
      async edit(page) {
        await open(page, '/rooms')
        await page.getByRole('button', { name: 'Templates' }).click()
        await page.getByRole('button', { name: 'Edit: Talk' }).click()
        return await change(page.getByRole('dialog', { name: 'Edit template' }), 'Topic', 'Lecture')
      },
      // The settings are one field: the form merges their parts.
      others: () => site.call('templates.save', { id, settings: { topic: 'Seminar', waiting_room: true } }),
      field: 'Room settings',
      values: ['Topic: Lecture', 'Topic: Seminar'],
      stored: async () => (await site.call('templates.list'))[0],
      expected: { name: 'Talk', settings: { topic: 'Lecture', waiting_room: true } },
    }
  },
}

test.each(Object.entries(kinds))(
  'both change a field of a %s: the operator sees both values, keeps their own, and the other change stays',
  async (_, prepare) => {
    const { edit: begin, others, field, values, stored, expected } = await prepare()
    const { page } = site
    const save = await begin(page)
    await others()
    await save()
    const conflict = new ConsolePages(page).dialog('Changed meanwhile')
    const choice = conflict.getByRole('radiogroup', { name: field })
    for (const value of values) await choice.getByText(value, { exact: true }).waitFor()
    expect(await conflict.getByRole('radiogroup').count()).toBe(1)
    await choice.getByText('Your value').click()
    await conflict.getByRole('button', { name: 'Save', exact: true }).click()
    await conflict.waitFor({ state: 'hidden' })
    await expect.poll(stored).toMatchObject(expected as object)
    // The list of templates may still be open.
    await open(page, '/overview')
  },
)

test.each([
  ['de', 'Inzwischen geändert', 'Ihr Wert', 'Thema'],
  ['zh', '内容已被更改', '您的值', '主题'],
] as const)('the choice is worded in %s', async (language, title, mine, topic) => {
  const id = await roomOf('Yard')
  const { page } = site
  const dialog = await edit(page, id)
  await dialog.topic.fill('Garden')
  await site.call('rooms.update', { room_id: id, topic: 'Court' })
  await site.call('settings.set', { console: { language } })
  const form = page.getByRole('dialog')
  await expect.poll(() => page.locator('html').getAttribute('lang')).toMatch(new RegExp(`^${language}`))
  await form.getByLabel(topic).press('Enter')
  const conflict = page.getByRole('dialog', { name: title })
  await conflict.getByText(mine).click()
  await conflict.getByText('Court').waitFor()
  await conflict.locator('button[type=submit]').click()
  await conflict.waitFor({ state: 'hidden' })
  await expect.poll(async () => (await room(id)).topic).toBe('Garden')
  await site.call('settings.set', { console: { language: 'en' } })
  await expect.poll(() => page.locator('html').getAttribute('lang')).toMatch(/^en/)
})
