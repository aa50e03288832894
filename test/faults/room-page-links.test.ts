import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'

let site: RoomSite
let room: string
let link: string
const equipment = 'none'
const visitors: Visitor[] = []

beforeAll(async () => {
  site = await RoomSite.start()
  room = await site.room({ topic: 'Town hall' })
  link = await site.link(room)
})
afterAll(async () => {
  for (const visitor of visitors) await visitor.close()
  await site[Symbol.asyncDispose]()
})

async function comes(name: string, by = link, locale = 'en-GB'): Promise<Visitor> {
  const visitor = await site.join(by, { name, equipment, locale })
  visitors.push(visitor)
  return visitor
}

test('one guest of a shared link is removed: the others stay, new ones join, and the operator can revoke the whole link', {
  timeout: 120_000,
}, async () => {
  const [ann, bo] = [await comes('Ann'), await comes('Bo')]
  const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
  const { page } = await site.open(`${site.controller.ready.console}/#key=${key}`, { equipment })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rooms' }).click()
  await page.getByText('Town hall').first().click()
  await page.getByRole('button', { name: 'More actions: Ann' }).click()
  await page.getByRole('menuitem', { name: 'Remove from room' }).click()
  await page.getByText('Others with the same link are not affected').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from room' }).click()
  await ann.page.getByRole('heading', { name: 'You were removed from the room' }).waitFor()

  // The same link in the same browser, and in a new one.
  await ann.page.goto('about:blank')
  await ann.page.goto(link)
  await ann.page.getByLabel('Your name').fill('Ann')
  await ann.page.getByRole('button', { name: /^Join/ }).click()
  await ann.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor()
  const cleo = await comes('Cleo')
  await cleo.page.getByRole('listitem', { name: 'Bo', exact: true }).waitFor()
  expect(await bo.button('Leave').count()).toBe(1)

  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('button', { name: 'Revoke all links of this room' }).click()
  await page.getByText('People in the room stay').waitFor()
  const asked = page.getByRole('dialog', { name: /^Revoke all join links/ })
  await asked.getByRole('button', { name: 'Revoke all links of this room' }).click()
  await page.getByText(`All join links of room ${room} were revoked`).waitFor()
  const late = new Visitor(await site.window(equipment, { locale: 'zh-CN' }))
  visitors.push(late)
  await late.page.goto(link)
  await late.page.getByRole('heading', { name: '需要邀请链接' }).waitFor()
  expect(await cleo.button('Leave').count()).toBe(1)
  await comes('Dan', await site.link(room))
})
