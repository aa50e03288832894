import { expect, test } from 'vitest'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import HeldDialog from '../../../renderer/console/pages/settings/accounts/HeldDialog.vue'
import { CallError } from '../../../renderer/kit/transport/transport.ts'
import { answeringConsole } from '../answering-console.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

/** An admin opens an account with two access tokens, one of which changed something. */
async function admin() {
  const client = await operator()
  const account = await client.call('accounts.create', { name: 'Ada', role: 'operator', password: 'a long enough one' })
  const { access } = await client.call('accounts.create_token', { id: account.id, label: 'Night script' })
  await client.call('accounts.create_token', { id: account.id, label: 'Unused' })
  const script = { role: 'operator', way: 'token', account: 'Ada', accountId: account.id } as const
  await client.as({ ...script, token: access.label, tokenId: access.id, scopes: access.scopes }).call('rooms.create', {
    topic: 'Made by night',
  })
  await client.call('rooms.create', { topic: 'Made by hand' })
  show(ConfirmHost, client)
  const dialog = show(HeldDialog, client, { modelValue: null })
  await dialog.setProps({ modelValue: account })
  await says('Night script')
  const pressOf = async (label: string): Promise<void> => {
    const button = await eventually(() => {
      const found = document.querySelector<HTMLElement>(`[aria-label="${label}"]`)
      if (found === null) throw new Error(`there is no ${label}`)
      return found
    })
    button.click()
  }
  return { client, account, pressOf }
}

test('revoking a token lists the rooms and devices that it created, and no others, in both languages', async () => {
  const { client, account, pressOf } = await admin()
  await pressOf('Revoke Night script')
  await says('Changes made with this token')
  await says('Made by night')
  expect(pageText()).not.toContain('Made by hand')
  await press('Cancel')
  await showLanguage('zh')
  await pressOf('吊销 Night script')
  await says('此令牌所做的更改')
  await press('取消')
  await showLanguage('en')
  await pressOf('Revoke Night script')
  await says('Changes made with this token')
  document.querySelector<HTMLElement>('[data-confirm]')?.click()
  await says('Token revoked')
  await eventually(async () => expect(await client.call('accounts.tokens', { id: account.id })).toHaveLength(1))
})

test('revoking a token that changed nothing says so', async () => {
  const { pressOf } = await admin()
  await pressOf('Revoke Unused')
  await says('No changes were made with this token.')
  await press('Cancel')
})

test('sessions that cannot be read are reported, beside tokens that can, and read again on request', async () => {
  const { account } = await admin()
  let failing = true
  const client = answeringConsole((name) => {
    if (name === 'accounts.sessions' && failing) throw new CallError('timeout', '')
    return name === 'capabilities.list' ? { total: 0, items: [] } : []
  })
  show(HeldDialog, client, { modelValue: account })
  await says('No access tokens')
  await says('The controller did not answer within 15 s.Try again')
  failing = false
  await press('Try again')
  await says('No sessions')
})
