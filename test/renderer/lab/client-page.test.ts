import { mount } from '@vue/test-utils'
import { expect, onTestFinished, test } from 'vitest'
import { h } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { installConsole } from '../../../renderer/console/composables/useConsole.ts'
import { installTexts } from '../../../renderer/console/i18n/index.ts'
import ClientPage from '../../../renderer/console/pages/ClientPage.vue'
import LabPage from '../../../renderer/console/pages/LabPage.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { eventually } from '../eventually.ts'
import { operator, pageText, press, says } from '../devices/operator-page.ts'

/** Opens a page of the console at an address. */
async function open(client: ConsoleClient, address: string): Promise<void> {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/clients/:key', component: ClientPage },
      { path: '/lab', component: LabPage },
      { path: '/:rest(.*)*', component: { template: '' } },
    ],
  })
  await router.push(address)
  const shown = mount(() => [h(RouterView), h(ConfirmHost)], {
    attachTo: document.body,
    global: { plugins: [router, { install: installTexts }, { install: (app) => installConsole(app, client) }] },
  })
  onTestFinished(() => shown.unmount())
}

test('an operator watches a client from the lab, and sees what it does wrong and never tried', async () => {
  const client = await operator()
  await client.call('credentials.create', { label: 'Lobby', access_key: 'lobby', secret_key: 'lobby secret' })
  await open(client, '/lab')
  await says('Checks the calls of one credential')
  await press('Open')
  await says('Watch of Lobby')
  await says('Not watched yet')
  await says('Nothing wrong so far.')
  await press('Watch this client')
  await says('Watched until')

  const send = { api: 'media', operation: 'get_room', access_key: 'lobby', params: { room_id: '' } } as const
  await client.call('tester.send', send)
  await says('Sends parameters that are accepted')
  await says('1 time wrong')
  await says('Last example')
  expect(pageText()).toContain('GET /rtc/room/get?access_token=[redacted]&room_id= → ret 407')
  await says('Or add an API fault in the lab: create_room, no answer.')

  await press('Stop watching')
  await says('Ended')
  await press('Watch again')
  await says('Start a new watch?')
  document.querySelector<HTMLElement>('[data-confirm]')?.click()
  await says('Watched until')
  await eventually(async () =>
    expect(await client.call('clients.checks', { access_key: 'lobby' })).toMatchObject({ running: true, calls: 0 }),
  )
})
