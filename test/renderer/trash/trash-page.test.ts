import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import TrashPage from '../../../renderer/console/pages/TrashPage.vue'
import { operator, press, says, show } from '../devices/operator-page.ts'
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
