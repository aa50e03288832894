import { expect, test } from 'vitest'
import AccountDialog from '../../../renderer/console/pages/settings/accounts/AccountDialog.vue'
import { fieldOf, operator, pageText, press, says, show, write } from '../devices/operator-page.ts'

test('a field that was only passed through says nothing; one that was emptied, or left empty on sending, is required', async () => {
  const client = await operator()
  const shown = show(AccountDialog, client, { modelValue: false, account: null, first: false })
  await shown.setProps({ modelValue: true })
  const name = await fieldOf('Name')
  const leave = (): boolean => name.dispatchEvent(new FocusEvent('blur'))
  leave()
  ;(await fieldOf('Password')).dispatchEvent(new FocusEvent('blur'))
  await shown.vm.$nextTick()
  expect(pageText()).not.toContain('Required')
  await press('Add')
  await says('Required')
  await write('Name', 'Vera')
  await write('Password', 'a long password of hers')
  await shown.vm.$nextTick()
  expect(pageText()).not.toContain('Required')
  await write('Name', '')
  leave()
  await says('Required')
  expect((await client.call('accounts.list')).length).toBe(0)
})
