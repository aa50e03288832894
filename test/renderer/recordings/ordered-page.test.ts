import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import OrderedPage from '../../../renderer/console/pages/OrderedPage.vue'
import { operator, pageText, says, show } from '../devices/operator-page.ts'

test('An operator reads who orders recordings where nobody has yet, in three languages', async () => {
  show(() => [h(OrderedPage), h(ConfirmHost)], await operator())
  await says('Nobody has ordered a recording')
  expect(pageText()).toContain('Time line')
  await showLanguage('zh')
  await says('还没有下达的录制')
  await showLanguage('de')
  await says('Niemand hat eine Aufzeichnung gestartet')
  await showLanguage('en')
})

test('A viewer who types the address is told that the list is not for them', async () => {
  show(OrderedPage, (await operator()).as({ role: 'viewer' }))
  await says('Try again')
  expect(pageText()).not.toContain('Ordered by')
})
