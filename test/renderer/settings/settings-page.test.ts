/// <reference types="node" />
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { onTestFinished, expect, test } from 'vitest'
import ListenersCard from '../../../renderer/console/pages/settings/ListenersCard.vue'
import SettingsCard from '../../../renderer/console/pages/settings/SettingsCard.vue'
import SettingsPage from '../../../renderer/console/pages/SettingsPage.vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { useOverview } from '../../../renderer/console/composables/site.ts'
import { useSettings } from '../../../renderer/console/composables/site.ts'
import { defineComponent, h } from 'vue'
import type { Component } from 'vue'
import { fieldOf, operator, pageText, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

/** Mounts a card after the settings were read, with its dialogs. */
function withSettings(card: Component, props: Record<string, unknown> = {}): Component {
  return defineComponent({
    setup() {
      const { value: settings } = useSettings()
      const { value: overview } = useOverview()
      return () => [settings.value && overview.value ? h(card, props) : 'reading', h(ConfirmHost)]
    },
  })
}

test('a setting is changed, saved, and reset to its default', async () => {
  const client = await operator()
  show(withSettings(SettingsCard, { name: 'rooms' }), client)
  await write('Max. participants', '7')
  await says('Unsaved changes')
  await press('Save')
  await says('The settings were saved')
  expect((await client.call('settings.get')).room_defaults.attendee_max).toBe(7)
  const back = document.querySelector<HTMLButtonElement>('[aria-label="Max. participants: Reset to default: 100"]')
  back?.click()
  await eventually(async () => expect((await fieldOf('Max. participants')).value).toBe('100'))
  await press('Save')
  await eventually(async () => expect((await client.call('settings.get')).room_defaults.attendee_max).toBe(100))
})

test('a deadline is typed in its unit, and its range is spelled out', async () => {
  const client = await operator()
  show(withSettings(SettingsCard, { name: 'deadlines' }), client)
  expect((await fieldOf('MCU node response')).value).toBe('4')
  await write('MCU node response', '2.5')
  await press('Save')
  await eventually(async () => expect((await client.call('settings.get')).deadlines.node_ms).toBe(2_500))
  await write('Disk', '90')
  await press('Save')
  await says('From 50 ms to 1 min')
  await write('Disk', 'soon')
  await says('From 50 ms to 1 min')
  expect((await client.call('settings.get')).deadlines.store_ms).toBe(5_000)
})

test('a port in use is refused at its field with the name of its holder, and nothing moves', async () => {
  const client = await operator()
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  onTestFinished(() => void blocker.close())
  const { port } = blocker.address() as AddressInfo
  const before = (await client.call('overview.get')).listeners
  show(withSettings(ListenersCard), client)
  await write('Media room API', String(port))
  await press('Save')
  await says(`Port ${port} is in use by`)
  expect((await client.call('overview.get')).listeners).toEqual(before)
  await write('External device API', String(port))
  await press('Save')
  await says(`Port ${port} is assigned to two listeners`)
})

test.each([
  ['win32', 'Windows will ask whether Roomdesk may communicate on networks'],
  ['darwin', 'macOS will ask whether Roomdesk may accept incoming connections'],
  ['linux', undefined],
])(
  'before the desktop app on %s opens to other machines, its operator reads that the system will ask',
  async (platform, sentence) => {
    const client = await operator()
    Object.assign(window, { roomdesk: { platform } })
    onTestFinished(() => void delete window.roomdesk)
    show(withSettings(ListenersCard), client)
    await write('Bind address', '0.0.0.0')
    await press('Save')
    await says('The ports were tested and are free')
    for (const system of ['Windows', 'macOS'])
      expect(pageText().includes(`${system} will ask`), system).toBe(sentence?.startsWith(system) ?? false)
    await press('Cancel')
  },
)

test('the port for events of Janus nodes is opened, moved away from a port in use, and closed', async () => {
  const client = await operator()
  const event = async () => (await client.call('overview.get')).listeners.find(({ name }) => name === 'event')
  const setting = async () => (await client.call('settings.get')).listeners.event_port
  const [free, blocker] = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
  await Promise.all([once(free, 'listening'), once(blocker, 'listening')])
  onTestFinished(() => void blocker.close())
  const [{ port }, { port: taken }] = [free.address() as AddressInfo, blocker.address() as AddressInfo]
  await new Promise((resolve) => free.close(resolve))
  show(withSettings(ListenersCard), client)
  expect((await fieldOf('Events of Janus nodes')).value).toBe('')
  await says('Janus nodes report here who joins and leaves.')
  await write('Events of Janus nodes', String(taken))
  await press('Save')
  await says(`Port ${taken} is in use by`)
  expect(await setting()).toBeNull()
  await write('Events of Janus nodes', String(port))
  await press('Save')
  await says('Janus nodes can report their events once')
  await press('Apply')
  await eventually(async () => expect(await event()).toMatchObject({ state: 'listening' }))
  await eventually(async () => expect(await setting()).toBe(port))
  await says(`Now at http://127.0.0.1:${port}. Janus nodes report here`)
  await write('Events of Janus nodes', '')
  await press('Save')
  await says('Janus nodes can no longer report their events')
  await press('Apply')
  await eventually(async () => expect(await event()).toBeUndefined())
  await eventually(async () => expect(await setting()).toBeNull())
})

test('another operator saves meanwhile: untouched fields follow, typed values stay', async () => {
  const client = await operator()
  show(withSettings(SettingsCard, { name: 'rooms' }), client)
  await fieldOf('Max. participants')
  await client.call('settings.set', { room_defaults: { attendee_max: 55 } })
  await eventually(async () => expect((await fieldOf('Max. participants')).value).toBe('55'))
  await write('Max. video streams', '3')
  await client.call('settings.set', { room_defaults: { attendee_max: 66 } })
  await says('Unsaved changes')
  expect((await fieldOf('Max. video streams')).value).toBe('3')
})

test('the page begins with the network, and the desktop has no console port to set', async () => {
  const client = await operator()
  show(SettingsPage, client)
  await says('Addresses and ports')
  await says('Media room API')
  expect(pageText()).not.toContain('The address of this console changes')
  expect([...document.querySelectorAll('label')].map((one) => one.textContent?.trim())).not.toContain('Console')
})

test('The password of a TURN server is hidden; it stays when other fields change, and a new one replaces it', async () => {
  const client = await operator()
  const server = { urls: ['turn:turn.example.org'], username: 'ann', credential: 'a TURN secret' }
  await client.call('settings.set', { media: { ice_servers: [server] } })
  show(withSettings(SettingsCard, { name: 'transport' }), client)
  const password = await fieldOf('Password')
  expect([password.value, password.placeholder]).toEqual(['', 'Stored; type to replace'])
  expect(document.documentElement.outerHTML).not.toContain('TURN secret')
  await write('User', 'bob')
  await press('Save')
  const stored = async () => (await client.call('settings.get')).media.ice_servers
  await eventually(async () => expect(await stored()).toEqual([{ ...server, username: 'bob', credential: '******' }]))
  await write('Password', 'another one')
  await press('Save')
  await eventually(async () => expect((await fieldOf('Password')).value).toBe(''))
  await write('User', 'eve')
  await write('Password', 'x')
  await write('Password', '')
  await press('Save')
  await eventually(async () => expect(await stored()).toEqual([{ ...server, username: 'eve', credential: '' }]))
})
