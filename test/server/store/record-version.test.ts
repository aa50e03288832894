import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedSince, type Fields, overlappingFields, versionOfFields } from '../../../server/store/record-edits.ts'

const names = ['topic', 'tags', 'schedule', 'rule', 'waiting_room'] as const
const value = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom('', 'a', 'b'),
  fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
  fc.record({ start: fc.constantFrom('1', '2'), days: fc.array(fc.constantFrom(1, 2), { maxLength: 1 }) }),
)
const record = fc.record(Object.fromEntries(names.map((name) => [name, value])))
/** Fields that somebody changes, to which values. */
const edit = fc.dictionary(fc.constantFrom(...names), value)
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
const changed = (before: Fields, after: Fields): string[] => names.filter((name) => !same(before[name], after[name]))

test('two edits of one record: changes that do not overlap are both kept, and an overlap names the fields that both changed', () => {
  fc.assert(
    fc.property(record, edit, edit, (seen, theirs, mine) => {
      const now = { ...seen, ...theirs }
      const then = { ...now, ...mine }
      const byBoth = changed(seen, now).filter((name) => changed(now, then).includes(name))
      const refused = overlappingFields(versionOfFields(seen), now, then)
      expect(refused).toEqual(byBoth)
      if (refused.length > 0) return
      for (const name of names) {
        if (changed(seen, now).includes(name)) expect(then[name]).toEqual(now[name])
        else if (name in mine) expect(then[name]).toEqual(mine[name])
        else expect(then[name]).toEqual(seen[name])
      }
    }),
  )
})

test('an edit based on the last change, or undoing one, overlaps with nothing', () => {
  fc.assert(
    fc.property(record, edit, edit, (before, theirs, mine) => {
      const now = { ...before, ...theirs }
      expect(overlappingFields(versionOfFields(now), now, { ...now, ...mine })).toEqual([])
      expect(changedSince(versionOfFields(before), { ...before })).toEqual([])
    }),
  )
})

test('a version does not depend on the order of keys in a value, and an omitted field is null', () => {
  const version = versionOfFields({ schedule: { start: '1', days: [1] }, rule: null })
  expect(versionOfFields({ schedule: { days: [1], start: '1' }, rule: undefined })).toBe(version)
  expect(versionOfFields({ schedule: { days: [2], start: '1' }, rule: null })).not.toBe(version)
})

test('a version of a program with other fields, or an invented one, matches no record: every field counts as changed', () => {
  const fields = { topic: 'A', tags: [] }
  for (const seen of ['', 'x', versionOfFields({ topic: 'A' }), `${versionOfFields(fields)}x`])
    expect(changedSince(seen, fields)).toEqual(['topic', 'tags'])
})
