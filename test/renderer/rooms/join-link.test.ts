import { nextTick } from 'vue'
import { expect, onTestFinished, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import InviteDialog from '../../../renderer/console/pages/rooms/InviteDialog.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { eventually } from '../eventually.ts'
import { operator, pageText, says, show } from '../devices/operator-page.ts'
import type { RoomView } from '../../../shared/domain/rooms.ts'

/** Shows the dialog for a link to a room of a site with this public address. */
async function dialogAt(client: ConsoleClient, room: RoomView, public_url: string) {
  await client.call('settings.set', { media: { public_url } })
  const dialog = show(InviteDialog, client, { room })
  // The address appears with the link.
  await says(public_url || 'http://127.0.0.1')
  return dialog
}

test('a join link over plain HTTP to another machine carries a warning that links to the certificate, in both languages; one over HTTPS or to this machine does not', async () => {
  const client = await operator()
  onTestFinished(() => showLanguage('en'))
  await client.call('nodes.add', { name: 'real', kind: 'embedded' })
  const room = await client.call('rooms.create', { topic: 'Gate', entry_by_number: 'on' })

  const plain = await dialogAt(client, room, 'http://192.168.1.20:7080')
  await says('This link uses plain HTTP')
  const warning = await eventually(() => {
    const found = document.querySelector('[role="alert"] a')
    if (found === null) throw new Error('the warning leads nowhere')
    return found
  })
  expect([warning.textContent, warning.getAttribute('href')]).toEqual(['Certificate', '/settings/network'])
  await showLanguage('zh')
  await says('此链接使用明文 HTTP')
  await showLanguage('en')
  plain.unmount()

  const secure = await dialogAt(client, room, 'https://rooms.example.org')
  expect(pageText()).not.toContain('plain HTTP')
  expect(pageText()).not.toContain('only on this machine')
  secure.unmount()

  await dialogAt(client, room, '')
  await says('This address works')
  expect(pageText()).not.toContain('plain HTTP')
})

test('an invitation to guests never shows the link of a host, not even until the new one has arrived', async () => {
  const client = await operator()
  await client.call('nodes.add', { name: 'real', kind: 'embedded' })
  const room = await client.call('rooms.create', { topic: 'Gate' })
  await dialogAt(client, room, 'https://rooms.example.org')
  const link = (): string => document.querySelector<HTMLInputElement>('input[readonly]')?.value ?? ''
  const choose = async (role: 'host' | 'member'): Promise<void> => {
    const list = [...document.querySelectorAll('select')].find((one) => one.textContent?.includes('Host'))
    if (list === undefined) throw new Error('there is no choice of roles')
    list.value = role
    list.dispatchEvent(new Event('change'))
    await nextTick()
  }
  await eventually(() => expect(link()).toMatch(/^https/))
  const ofGuest = link()
  await choose('host')
  expect(link()).toBe('')
  await eventually(() => expect(link()).toMatch(/^https/))
  const ofHost = link()
  expect(ofHost).not.toBe(ofGuest)
  await choose('member')
  expect(link()).toBe('')
  expect(document.querySelector('textarea')?.value).toBe('')
  await eventually(() => expect(link()).toMatch(/^https/))
  expect(link()).not.toBe(ofHost)
})
