import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import LicenceCard from '../../../renderer/console/pages/settings/LicenceCard.vue'
import { fieldOf, operator, press, says, show, write } from '../devices/operator-page.ts'

const card = () => [h(LicenceCard), h(ConfirmHost)]

test('An expired licence is saved only after a confirmation that says what it stops', async () => {
  const client = await operator()
  await client.call('rooms.create', { topic: 'Board' })
  show(card, client)
  await says('Rooms1')
  await write('Valid until', '2020-02-29')
  await write('Max. rooms', '1')
  await press('Save')
  await says('No room can be created or joined: the licence expired on')
  await says('No room can be created: there are already 1')
  await press('Cancel')
  expect((await client.call('licence.get')).expires_at).toBe('')
  // The entered value is still there.
  expect((await fieldOf('Valid until')).value).toBe('2020-02-29')

  await press('Save')
  await says('Save a licence that takes effect at once?')
  document.querySelector<HTMLElement>('[data-confirm]')?.click()
  await says('The licence was saved')
  expect(await client.call('licence.get')).toMatchObject({ expires_at: '2020-02-29', expired: true })
})

test('A valid licence is saved without a question', async () => {
  const client = await operator()
  show(card, client)
  await write('Valid until', '2099-12-31')
  await write('Max. rooms', '20')
  await press('Save')
  await says('0 / 20')
  expect(await client.call('licence.get')).toMatchObject({ expires_at: '2099-12-31', max_rooms: 20, expired: false })
})
