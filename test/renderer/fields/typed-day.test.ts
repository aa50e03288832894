import { expect, test } from 'vitest'
import { shownDay, typedDay } from '../../../renderer/console/components/typed-day.ts'
import DateTimeInput from '../../../renderer/console/components/DateTimeInput.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import { operator, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test.each([
  ['de', '5.12.2026', '2026-12-05'],
  ['de', '1.3.27', '2027-03-01'],
  ['de', '05.12.2026', '2026-12-05'],
  ['de', '2026-12-05', '2026-12-05'],
  ['de', '30.02.2027', undefined],
  ['de', '5.12.', undefined],
  ['de', '5.12.20260', undefined],
  ['en', '5/12/2026', '2026-12-05'],
  ['en', '5 Dec 2026', '2026-12-05'],
  ['en', '5 december 2026', '2026-12-05'],
  ['en', '5 Foo 2026', undefined],
  ['en', 'Dec 5 2026', undefined],
  ['zh', '2026/12/5', '2026-12-05'],
  ['zh', '2026年12月5日', '2026-12-05'],
  ['zh', '5/12/2026', undefined],
] as const)('in %s a day that is typed as %s is %s', (language, text, day) => {
  expect(typedDay(text, language)).toBe(day)
  if (day !== undefined) expect(typedDay(shownDay(day, language), language)).toBe(day)
})

test('a typed day is taken in the order of the language, and one that does not exist leaves the one before', async () => {
  await showLanguage('de')
  const client = await operator()
  let now = '2026-11-20T09:30'
  const field = show(DateTimeInput, client, {
    modelValue: now,
    precision: 'minute',
    label: 'Beginn',
    'onUpdate:modelValue': (next: string) => {
      now = next
      void field.setProps({ modelValue: next })
    },
  })
  const input = field.get<HTMLInputElement>('.day input')
  const type = async (text: string): Promise<void> => {
    await input.setValue(text)
    await input.trigger('keydown', { code: 'Enter', key: 'Enter' })
    await input.trigger('change')
  }
  await type('5.12.2026')
  await eventually(() => expect(now).toBe('2026-12-05T09:30'))
  await type('30.2.2027')
  await eventually(() => expect(input.element.value).toBe('05.12.2026'))
  expect(now).toBe('2026-12-05T09:30')
  await showLanguage('en')
})
