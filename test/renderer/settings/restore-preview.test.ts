import { expect, test } from 'vitest'
import BackupsCard from '../../../renderer/console/pages/settings/BackupsCard.vue'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'

test('before a restore the operator reads how many rooms, accounts, tokens and wall views change, and whose access', async () => {
  const client = await operator()
  const account = (name: string) =>
    client.call('accounts.create', { name, role: 'operator', password: 'a long password of theirs' })
  await account('Vera')
  await client.call('rooms.create', { topic: 'Then' })
  await client.call('wall.save', { name: 'Gates', items: [{ kind: 'camera', id: 'gate' }] })
  await client.call('backups.make')
  const [view] = await client.call('wall.list')
  await client.call('wall.remove', { id: view?.id ?? '' })
  const { id } = await account('Wim')
  await client.call('accounts.create_token', { id, label: 'Nightly', scopes: ['rooms:read'], days: 7 })

  show(BackupsCard, client)
  await press('Restore…')
  await says('Accounts and access tokens')
  const rows = [...document.querySelectorAll('dialog tbody tr')].map((row) => row.textContent?.trim() ?? '')
  expect(rows).toEqual([
    expect.stringMatching(/^Rooms11same number/),
    expect.stringMatching(/^Credentials.*same number/),
    expect.stringMatching(/^MCU nodes.*same number/),
    expect.stringMatching(/^Devices.*same number/),
    expect.stringMatching(/^Accounts21−1/),
    expect.stringMatching(/^Access tokens10−1/),
    expect.stringMatching(/^Wall views01\+1/),
  ])
  expect(pageText()).toContain('RemovedWim (Operator)')
  expect(pageText()).toMatch(/RemovedToken Nightly of Wim/)
})
