import { expect, test } from 'vitest'
import { conflict } from '../../../renderer/console/edits/conflict.ts'
import { type Changes, sendChanges } from '../../../renderer/console/edits/recordChanges.ts'
import { CallError } from '../../../renderer/kit/transport/transport.ts'

interface Template {
  name: string
  settings: Record<string, unknown>
}

const before: Template = { name: 'Talk', settings: { topic: 'Talk', waiting_room: false, attendee_max: 10 } }

/** Controller at which others have changed the settings since the form was opened. */
function changedBy(current: Template['settings']) {
  const sent: Changes<Template>[] = []
  const send = (changes: Changes<Template>): Promise<string> => {
    sent.push(changes)
    if (sent.length > 1) return Promise.resolve('saved')
    const fields = [{ field: 'settings', current, changed: null }]
    return Promise.reject(new CallError('conflict', 'changed meanwhile', [], { conflict: { version: 'now', fields } }))
  }
  return { send, sent }
}

const record = { kind: 'template', version: 'then', fields: { ...before } } as const

test('Two people change different settings of a template: both changes are kept without a question', async () => {
  const { send, sent } = changedBy({ topic: 'Talk', waiting_room: true, attendee_max: 10 })
  const mine = { ...before, settings: { topic: 'Lecture', waiting_room: false } }
  expect(await sendChanges(record, mine, send)).toBe('saved')
  expect(sent).toEqual([
    { settings: mine.settings, expected_version: 'then' },
    // The limit was taken out here, the waiting room was switched on there.
    { settings: { topic: 'Lecture', waiting_room: true }, expected_version: 'now' },
  ])
})

test.each([
  ['own', ['settings'], { topic: 'Lecture', waiting_room: true, attendee_max: 10 }],
  ['current', [], { topic: 'Seminar', waiting_room: true, attendee_max: 10 }],
] as const)(
  'Of a setting that both changed, the %s value stays, and other changes with it',
  async (_, chosen, after) => {
    const { send, sent } = changedBy({ topic: 'Seminar', waiting_room: true, attendee_max: 10 })
    const saved = sendChanges(record, { ...before, settings: { ...before.settings, topic: 'Lecture' } }, send)
    await expect
      .poll(() => conflict.value?.fields)
      .toMatchObject([{ field: 'settings', mine: { topic: 'Lecture' }, current: { topic: 'Seminar' } }])
    conflict.value?.answer(chosen)
    expect(await saved).toBe('saved')
    expect(sent[1]).toEqual({ settings: after, expected_version: 'now' })
  },
)
