import { expect, test } from 'vitest'
import RoomDialog from '../../../renderer/console/pages/rooms/RoomDialog.vue'
import { fieldOf, operator, press, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('a second template replaces what the first one has filled in, and none leaves what the operator typed', async () => {
  const client = await operator()
  const settings = { owner_id: 'operator', room_mode: 1, entry_by_number: 'inherit', waiting_room: false } as const
  const tags = ['alpha']
  await client.call('templates.save', { name: 'A', settings: { ...settings, room_mode: 3, topic: 'Of A', tags } })
  await client.call('templates.save', { name: 'B', settings: { ...settings, topic: 'Of B' } })
  const dialog = show(RoomDialog, client, { modelValue: false, room: null })
  await dialog.setProps({ modelValue: true })
  const choose = async (name: string): Promise<void> => {
    const list = await eventually(() => {
      const found = [...document.querySelectorAll('select')].find((one) => one.textContent?.includes('None'))
      if (!found) throw new Error('there are no templates')
      return found
    })
    const option = [...list.options].find((one) => one.textContent === name)
    list.value = option?.value ?? ''
    list.dispatchEvent(new Event('change'))
  }
  const topic = async (): Promise<string> => (await fieldOf('Topic')).value
  await choose('A')
  await eventually(async () => expect(await topic()).toBe('Of A'))
  await choose('B')
  await eventually(async () => expect(await topic()).toBe('Of B'))
  await press('Create room')
  await eventually(async () => {
    const [room] = (await client.call('rooms.list', {})).items
    expect(room).toMatchObject({ topic: 'Of B', room_mode: 1, tags: [] })
  })

  await dialog.setProps({ modelValue: false })
  await dialog.setProps({ modelValue: true })
  await choose('None')
  await write('Topic', 'Typed')
  await choose('A')
  await choose('None')
  await press('Create room')
  await eventually(async () => {
    const rooms = (await client.call('rooms.list', { search: 'Typed' })).items
    expect(rooms).toMatchObject([{ topic: 'Typed', room_mode: 1, tags: [] }])
  })
})
