import { beforeEach, expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import { useOverview } from '../../../renderer/console/composables/site.ts'
import { refusalsOf } from '../../../renderer/console/composables/useRefusals.ts'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import AttentionList from '../../../renderer/console/pages/overview/AttentionList.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

let client: ConsoleClient
beforeEach(async () => {
  client = await operator()
  await client.call('credentials.create', { label: 'Lobby', access_key: 'lobby', secret_key: 'lobby-secret' })
})

const attention = defineComponent({
  setup() {
    const { value: overview } = useOverview()
    return () => (overview.value ? h(AttentionList, { items: overview.value.attention }) : 'reading')
  },
})
const links = () => [...document.querySelectorAll<HTMLAnchorElement>('a')].map((one) => one.getAttribute('href'))
const call = (operation: string, api: 'media' | 'device' = 'media') =>
  client.call('tester.send', { api, operation, access_key: 'lobby', params: {} })

test('A client refused because "Older clients" is off is shown with its number of calls, and a link to the switch', async () => {
  show(attention, client)
  await says('Node lab is simulated')
  expect(pageText()).not.toContain('127.0.0.1')
  await call('server_info')
  await says('A client of the original platform was refused: 127.0.0.1 (Lobby). The setting "Older clients" is off.')
  await says('1 call since')
  await call('server_info')
  await says('2 calls since')
  expect(pageText()).toContain('/sdk/config/serverinfo')
  expect(links()).toContain('/settings/access?setting=compatibility.older_clients')
  await showLanguage('zh')
  await says('原平台的客户端 127.0.0.1 (Lobby) 被拒绝')
  await says('共 2 次')
  await showLanguage('en')
})

test('A dismissed client does not appear again with further calls', async () => {
  await call('server_info')
  show(attention, client)
  await says('127.0.0.1 (Lobby)')
  await press('Dismiss')
  await eventually(() => expect(pageText()).not.toContain('127.0.0.1'))
  await call('server_info')
  expect((await client.call('overview.get')).attention.map(({ code }) => code)).toEqual(['simulatedNode'])
})

test('A client that sends its secret in the URL is listed separately, without the secret, with a link to the switch', async () => {
  await call('get_access_token', 'device')
  show(attention, client)
  await says('127.0.0.1 (Lobby) requested a token with its secret key in the URL, which is turned off.')
  expect(links()).toContain('/settings/access?setting=compatibility.get_access_token')
  expect(pageText()).not.toContain('lobby-secret')
})

test('While secrets may travel in URLs, the overview shows a warning that cannot be dismissed', async () => {
  await client.call('settings.set', { compatibility: { older_clients: true, get_access_token: true } })
  show(attention, client)
  await says('Clients may send their secret key in a URL')
  expect(links()).toContain('/settings/access?setting=compatibility.get_access_token')
  expect([...document.querySelectorAll('button')].map((one) => one.textContent?.trim())).not.toContain('Dismiss')
  await client.call('settings.set', { compatibility: { get_access_token: false } })
  await eventually(() => expect(pageText()).not.toContain('in a URL'))
})

test('Calls of one client are grouped, and separately for each switch', () => {
  const one = { operation: 'x', by_parameters: false, client: '10.0.0.7', credential: 'lobby', last_at: 9 }
  const serve = { ...one, setting: 'older_clients', count: 2 } as const
  const refusals = refusalsOf([
    { ...serve, path: '/a', first_at: 5 },
    { ...one, setting: 'get_access_token', path: '/t', count: 1, first_at: 6 },
    { ...serve, path: '/b', first_at: 3 },
    { ...serve, path: '/a', by_parameters: true, first_at: 4 },
  ])
  expect(refusals).toEqual([
    { setting: 'older_clients', client: '10.0.0.7', credential: 'lobby', paths: ['/a', '/b'], count: 6, first_at: 3 },
    { setting: 'get_access_token', client: '10.0.0.7', credential: 'lobby', paths: ['/t'], count: 1, first_at: 6 },
  ])
})
