import { expect, test } from 'vitest'
import { showLanguage } from '../../renderer/console/i18n/index.ts'

test('Choosing two languages in a row keeps the second, even if the texts of the first load later', async () => {
  const first = showLanguage('zh')
  await showLanguage('en')
  await first
  expect(document.documentElement.lang).toBe('en-GB')
  await showLanguage('zh')
  expect(document.documentElement.lang).toBe('zh-CN')
  await showLanguage('en')
})
