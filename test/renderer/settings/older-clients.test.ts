import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { useOverview, useSettings } from '../../../renderer/console/composables/site.ts'
import OlderClientsCard from '../../../renderer/console/pages/settings/OlderClientsCard.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { fieldOf, operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const card = defineComponent({
  setup() {
    const { value: settings } = useSettings()
    const { value: overview } = useOverview()
    return () => (settings.value && overview.value ? h(OlderClientsCard) : 'reading')
  },
})
const serve = 'Answer older clients'
const exchange = 'Let them exchange'

/** Sends the first call of a page on the original browser SDK. */
const beginAsOlderClient = (client: ConsoleClient) =>
  client.call('tester.send', { api: 'media', operation: 'server_info', params: {} })

test('Older clients are served once the operator turns the switch on; earlier refusals are no longer shown', async () => {
  const client = await operator()
  await beginAsOlderClient(client)
  show(card, client)
  await says('Refused during the last week')
  await says('127.0.0.1')
  await says('/sdk/config/serverinfo')
  const toggle = await fieldOf(serve)
  expect([toggle.getAttribute('role'), toggle.checked]).toEqual(['switch', false])
  toggle.click()
  await says('Unsaved changes')
  await press('Save')
  await says('The settings were saved')
  // The message of an earlier save may still be on the page.
  await expect
    .poll(async () => (await client.call('settings.get')).compatibility)
    .toEqual({ older_clients: true, get_access_token: false })
  await says('0 calls specific to older clients answered')
  expect(pageText()).not.toContain('/sdk/config/serverinfo')
})

test('The switch for secrets in URLs is separate, with its warning beside it', async () => {
  const client = await operator()
  show(card, client)
  await says('getAccessToken sends the secret key in URLs')
  ;(await fieldOf(exchange)).click()
  await press('Save')
  await eventually(async () =>
    expect((await client.call('settings.get')).compatibility).toEqual({ older_clients: false, get_access_token: true }),
  )
  expect((await client.call('overview.get')).attention.map(({ code }) => code)).not.toContain('secretsInUrls')
  ;(await fieldOf(serve)).click()
  await press('Save')
  await eventually(async () =>
    expect((await client.call('overview.get')).attention.map(({ code }) => code)).toContain('secretsInUrls'),
  )
})

test('A switch set by a start flag is shown and cannot be changed', async () => {
  const client = await operator(undefined, { older_clients: true })
  show(card, client)
  await says('Set by a start flag or environment variable')
  const toggle = await fieldOf(serve)
  expect([toggle.checked, toggle.disabled]).toEqual([true, true])
  expect((await fieldOf(exchange)).disabled).toBe(false)
})

test('A link from the overview leads to the switch itself, which has the focus and is marked', async () => {
  const client = await operator()
  const linked = defineComponent({
    setup() {
      const route = useRoute()
      void useRouter().push('/settings/access?setting=compatibility.get_access_token')
      return () => (route.query.setting ? h(card) : 'on the way')
    },
  })
  show(linked, client)
  const toggle = await fieldOf(exchange)
  await eventually(() => expect(document.activeElement).toBe(toggle))
  expect(toggle.closest('.sought')).not.toBeNull()
  expect((await fieldOf(serve)).closest('.sought')).toBeNull()
})
