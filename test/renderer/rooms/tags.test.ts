import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import { asked } from '../../../renderer/console/composables/useFeedback.ts'
import TagEditor from '../../../renderer/console/tags/TagEditor.vue'
import TagsDialog from '../../../renderer/console/tags/TagsDialog.vue'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const field = (label: string): Promise<HTMLInputElement> =>
  eventually(() => {
    const input = document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`)
    if (!input) throw new Error(`there is no field "${label}": ${pageText()}`)
    return input
  })

/** Types a tag into a field and presses Enter once it is among the options. */
async function typeTag(label: string, tag: string): Promise<void> {
  const input = await field(label)
  input.focus()
  input.value = tag
  input.dispatchEvent(new Event('input', { bubbles: true }))
  await eventually(() => {
    const options = [...document.querySelectorAll('[role="option"]')].map((one) => one.textContent ?? '')
    if (!options.some((text) => text.toLowerCase().startsWith(tag.toLowerCase())))
      throw new Error(`"${tag}" is not offered`)
  })
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', bubbles: true }))
  await eventually(() => expect(input.value).toBe(''))
}

test('Tags of a room are typed and saved in known spelling; a cancel asks first, and a closed panel keeps what is not saved', {
  timeout: 60_000,
}, async () => {
  const client = await operator()
  await client.call('rooms.create', { topic: 'Yard', tags: ['North wing'] })
  const { room_id, version } = await client.call('rooms.create', { topic: 'Board' })
  const editor = () => [
    h('main', { 'data-popups': '' }, h(TagEditor, { kind: 'rooms', id: room_id, tags: [], version })),
    h(ConfirmHost),
  ]
  const first = show(editor, client)
  await press('Add tags')
  await typeTag('Tags', 'NORTH WING')
  await press('Cancel')
  await says('not saved yet')
  expect(pageText()).toContain('North wing')
  await eventually(() => {
    const buttons = [...document.querySelectorAll<HTMLButtonElement>('dialog button')]
    const keep = buttons.find((one) => one.textContent?.trim() === 'Cancel')
    if (!keep) throw new Error('the question is not there')
    keep.click()
    expect(asked.value).toBeNull()
  })
  first.unmount()

  show(editor, client)
  await says('North wing')
  await typeTag('Tags', 'weekly')
  await press('Save')
  await says('The tags were saved')
  expect((await client.call('rooms.get', { room_id })).room.tags).toEqual(['North wing', 'weekly'])
})

test('A tag that is too long is refused in words; a viewer has no editor', { timeout: 60_000 }, async () => {
  const client = await operator()
  const { room_id, version } = await client.call('rooms.create', { topic: 'Board', tags: ['North'] })
  const shown = show(
    () => h('main', { 'data-popups': '' }, h(TagEditor, { kind: 'rooms', id: room_id, tags: ['North'], version })),
    client,
  )
  await press('Edit tags')
  await typeTag('Tags', 'x'.repeat(41))
  await says('1 to 40 characters')
  shown.unmount()
  show(() => h(TagEditor, { kind: 'rooms', id: room_id, tags: ['North'], version }), client.as({ role: 'viewer' }))
  await says('North')
  expect(pageText()).not.toContain('Edit tags')
})

test('Tags of several rooms change together, and Undo puts them back', { timeout: 60_000 }, async () => {
  const client = await operator()
  const rooms = [
    await client.call('rooms.create', { topic: 'Board', tags: ['Old'] }),
    await client.call('rooms.create', { topic: 'Yard' }),
  ]
  const keys = rooms.map(({ room_id }) => room_id)
  show(() => h(TagsDialog, { kind: 'rooms', keys, modelValue: true }), client)
  await says('Tags of 2 rooms')
  await typeTag('Add', 'New')
  await typeTag('Remove', 'Old')
  await press('Save')
  await says('Tags of 2 rooms changed')
  const tagsOf = async () => (await client.call('rooms.list', { descending: false })).items.map(({ tags }) => tags)
  expect(await tagsOf()).toEqual([['New'], ['New']])
  await press('Undo')
  await eventually(async () => expect(await tagsOf()).toEqual([['Old'], []]))
})
