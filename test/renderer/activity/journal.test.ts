import { beforeEach, describe, expect, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import ActivityPage from '../../../renderer/console/pages/ActivityPage.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

let client: ConsoleClient
beforeEach(async () => {
  client = await operator()
  await client.call('credentials.create', { label: 'Lobby', access_key: 'lobby', secret_key: 'lobby-secret' })
})

/** Requests an unknown room as a client. */
const ask = (room_id: string) =>
  client.call('tester.send', { api: 'media', operation: 'get_room', access_key: 'lobby', params: { room_id } })
/** Authenticates with a wrong secret as a client. */
const fail = (access_key: string, digest: string) =>
  client.call('tester.send', { api: 'media', operation: 'authenticate', params: { access_key, digest } })
const rows = () => [...document.querySelectorAll<HTMLElement>('.row-line')].map((row) => row.textContent ?? '')

test('requests appear as they happen, newest first', async () => {
  show(ActivityPage, client)
  await says('No request yet')
  await ask('room-1')
  await ask('room-2')
  await says('room-2')
  expect(rows().find((row) => row.includes('get_room'))).toContain('room-2')
  await says('404')
  await says('room not found')
})

describe('The reason of a refused digest is only for the operator', () => {
  const digest = btoa('0123456789012345678901234567890123456789')
  test.each([
    ['nobody', digest, 'No credential has this access_key.', '没有此 access_key 对应的凭据'],
    ['lobby', digest, 'The digest does not match: the client has a different secret_key', 'digest 不匹配'],
    ['lobby', 'abcd', 'The digest decodes to 3 bytes', 'digest 解码后为 3 字节'],
    ['lobby', '%%%', 'The digest is not base64.', 'digest 不是 base64'],
  ])('%s with %s', async (access_key, sent, english, chinese) => {
    const { body } = await fail(access_key, sent)
    show(ActivityPage, client)
    await eventually(() => expect(rows()).toHaveLength(1))
    document.querySelector<HTMLElement>('.row-line')?.click()
    await says(english)
    expect(body).not.toContain(english)
    expect(pageText()).toContain('[redacted]')
    await showLanguage('zh')
    await says(chinese)
    await showLanguage('en')
  })
})

test('An answer in the form for older clients is shown as sent, without possible secrets', async () => {
  await client.call('settings.set', { compatibility: { older_clients: true } })
  await client.call('tester.send', { api: 'device', operation: 'list_outgoing_users', access_key: 'lobby', params: {} })
  await ask('room-1')
  show(ActivityPage, client)
  const row = await eventually(() => {
    const found = [...document.querySelectorAll<HTMLElement>('.row-line')].find((one) =>
      one.textContent?.includes('list_outgoing_users'),
    )
    if (!found) throw new Error('not listed yet')
    return found
  })
  row.click()
  await says('As sent, in the format for older clients:')
  await says('"result": 0')
  expect(pageText()).toContain('"err": ""')
})

test('A possible secret is shown as its length, in the language of the operator', async () => {
  await fail('S3cret-access', 'x')
  show(ActivityPage, client)
  await eventually(() => expect(rows()).toHaveLength(1))
  document.querySelector<HTMLElement>('.row-line')?.click()
  await says('[13 characters]')
  await showLanguage('zh')
  await says('[13 个字符]')
  expect(pageText()).not.toContain('S3cret-access')
  await showLanguage('en')
})

test('paused, the list stands still and counts; then all requests appear', async () => {
  await ask('room-1')
  show(ActivityPage, client)
  await says('room-1')
  await press('Pause')
  await ask('room-2')
  await ask('room-3')
  await says('2 new')
  expect(pageText()).not.toContain('room-2')
  await press('Resume')
  await says('room-3')
  await says('room-2')
})

test('with details open the list stands still too, and one press shows new requests', async () => {
  await ask('room-1')
  show(ActivityPage, client)
  await says('room-1')
  document.querySelector<HTMLElement>('.row-line')?.click()
  await says('Request')
  await ask('room-2')
  await says('1 new request')
  expect(rows().join()).not.toContain('room-2')
  await press('↑ 1 new request')
  await says('room-2')
})

test('a filter applies to the whole journal, and to new requests', async () => {
  await ask('room-1')
  await fail('nobody', 'x')
  show(ActivityPage, client)
  await eventually(() => expect(rows().join()).toContain('authenticate'))
  const search = document.querySelector<HTMLInputElement>('.search input')
  if (!search) throw new Error('there is no search')
  search.value = 'ROOM-1'
  search.dispatchEvent(new Event('input', { bubbles: true }))
  await eventually(() => expect(rows().join()).not.toContain('authenticate'))
  await ask('room-2')
  await ask('room-1')
  await eventually(() => expect(rows().filter((row) => row.includes('room-1'))).toHaveLength(2))
  expect(pageText()).not.toContain('room-2')
})

test('another console clears the journal: this one is empty too', async () => {
  await ask('room-1')
  show(ActivityPage, client)
  await says('room-1')
  await client.call('activity.clear')
  await says('No request yet')
  await ask('room-2')
  await says('room-2')
})

test('the page says how many requests it keeps', async () => {
  await client.call('settings.set', { console: { activity_entries: 100 } })
  await ask('room-1')
  show(ActivityPage, client)
  await says('are kept, in memory only; 2 at the moment.')
})
