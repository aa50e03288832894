import { expect, test } from 'vitest'
import { pluralForm } from '../../shared/plural.ts'

test.each([
  ['en', '{n} room | {n} rooms', [1, 2, 2, 2]],
  ['de', '{n} Raum | {n} Räume', [1, 2, 2, 2]],
  ['zh', '{n} 个房间', [1, 1, 1, 1]],
  ['zh', '每天 | 每 {n} 天', [1, 2, 2, 2]],
  ['ru', '{n} комната | {n} комнаты | {n} комнат | {n} комнаты', [1, 2, 3, 3]],
])('%s: "%s" has a form for 1, 2, 5 and 0', (tag, text, expected) => {
  const forms = text.split(' | ')
  expect([1, 2, 5, 0].map((count) => forms.indexOf(pluralForm(text, tag, count)) + 1)).toEqual(expected)
})
