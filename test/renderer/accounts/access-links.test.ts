import { expect, test } from 'vitest'
import { h } from 'vue'
import AccessLinks from '../../../renderer/console/components/AccessLinks.vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'
import { quietTime } from '../../support/quiet-time.ts'

const rows = (): string[] =>
  [...document.querySelectorAll('ul[aria-label="Access links"] > li')].map((row) => row.textContent ?? '')

const confirm = async (): Promise<void> => {
  const button = await eventually(() => {
    const found = document.querySelector<HTMLButtonElement>('[data-confirm]')
    if (found === null || found.disabled) throw new Error('nothing can be confirmed')
    return found
  })
  button.click()
}

/** A room with a guest, and an operator's account that may open it to others. */
async function openRoom() {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  await client.call('lab.join', { room_id, user_id: 'dock', user_name: 'Dock' })
  const ada = await client.call('accounts.create', { name: 'Ada', role: 'operator', password: 'a long enough one' })
  const signedIn = { role: 'operator', way: 'password', account: 'Ada', accountId: ada.id } as const
  const adaClient = client.as(signedIn)
  const link = (maker: ConsoleClient = client) => maker.call('orders.live_link', { room_id, user_id: 'dock' })
  return { client, adaClient, room: { room_id, topic: 'Board' }, ada, link }
}

test('a room lists what is open, follows each change, and a revoked link is gone at once', async () => {
  const { client, room, link } = await openRoom()
  show(() => [h(AccessLinks, { room }), h(ConfirmHost)], client)
  await says('No access links')
  await link()
  await says('Live link · dock')
  expect(pageText()).toContain('By Host or desktop app')
  expect(pageText()).toContain('Never used')
  await press('Revoke')
  await says('Everyone who watches with it is disconnected')
  await press('Cancel')
  expect((await client.call('capabilities.list', { room_id: room.room_id })).total).toBe(1)
  await showLanguage('zh')
  await says('直播链接')
  await showLanguage('de')
  await says('Livelink')
  await showLanguage('en')
  await press('Revoke')
  await confirm()
  await says('1 access link revoked')
  await says('No access links')
  expect((await client.call('capabilities.list', {})).total).toBe(0)
})

test('the list of a maker holds and revokes only what this maker opened', async () => {
  const { client, adaClient, ada, link } = await openRoom()
  await link()
  await link(adaClient)
  await link(adaClient)
  const maker = { type: 'account', id: ada.id, name: 'Ada' } as const
  show(() => [h(AccessLinks, { maker }), h(ConfirmHost)], client)
  await eventually(() => expect(rows()).toHaveLength(2))
  await press('Revoke all…')
  await says('All access links created by Ada.')
  await confirm()
  await says('2 access links revoked')
  const { items } = await client.call('capabilities.list', {})
  expect(items.map((item) => item.maker.type)).toEqual(['site'])
})

test('the site lists everything in steps, and asks for the number before all is revoked', async () => {
  const { client, link } = await openRoom()
  for (let count = 0; count < 12; count++) await link()
  show(() => [h(AccessLinks), h(ConfirmHost)], client)
  await eventually(() => expect(rows()).toHaveLength(10))
  await press('Show 2 more')
  await eventually(() => expect(rows()).toHaveLength(12))
  expect(rows()[0]).toContain('Board')
  await press('Revoke all…')
  await says('Type 12 to confirm')
  expect(document.querySelector<HTMLButtonElement>('[data-confirm]')?.disabled).toBe(true)
})

test('a viewer, who may not revoke, sees neither list nor buttons', async () => {
  const { client, room, link } = await openRoom()
  await link()
  const viewer = client.as({ role: 'viewer' })
  show(() => [h('p', 'The room'), h(AccessLinks, { room })], viewer)
  await viewer.call('account.me')
  await says('The room')
  await quietTime(50)
  expect(pageText()).not.toContain('Access links')
  expect(document.querySelector('button')).toBeNull()
})
