import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import TrashPage from '../../../renderer/console/pages/TrashPage.vue'
import { operator, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('all of a long trash is selected and restored, not only the rows that are loaded', async () => {
  const client = await operator()
  const room_ids: string[] = []
  for (let n = 0; n < 230; n++) room_ids.push((await client.call('rooms.create', { topic: `Room ${n}` })).room_id)
  await client.call('rooms.delete', { room_ids })
  show(() => [h(TrashPage), h(ConfirmHost)], client)
  const all = await eventually(() => {
    const box = document.querySelector<HTMLInputElement>('input[aria-label="Select all"]')
    if (!box) throw new Error('the list is not there')
    return box
  })
  all.dispatchEvent(new Event('change'))
  await says('230 selected')
  await press('Restore')
  await says('230 items restored')
  expect((await client.call('rooms.list', {})).total).toBe(230)
})

test('emptying the trash asks again if something was deleted while it asked', async () => {
  const client = await operator()
  const remove = async (topic: string): Promise<void> => {
    const { room_id } = await client.call('rooms.create', { topic })
    await client.call('rooms.delete', { room_ids: [room_id] })
  }
  await remove('First')
  show(() => [h(TrashPage), h(ConfirmHost)], client)
  await says('First')
  await press('Empty the trash')
  await write('Type 1 to confirm', '1')
  await remove('Second')
  const confirm = (): void => document.querySelector<HTMLButtonElement>('[data-confirm]')?.click()
  await eventually(() => expect(document.querySelector<HTMLButtonElement>('[data-confirm]')?.disabled).toBe(false))
  confirm()
  await write('Type 2 to confirm', '2')
  expect((await client.call('trash.list', {})).all).toBe(2)
  await eventually(() => expect(document.querySelector<HTMLButtonElement>('[data-confirm]')?.disabled).toBe(false))
  confirm()
  await eventually(async () => expect((await client.call('trash.list', {})).all).toBe(0))
})
