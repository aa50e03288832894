import { expect, test } from 'vitest'
import { showLanguage } from '../../renderer/console/i18n/index.ts'

test('Of two languages that are chosen one right after the other the last one stays, also where the texts of the first take their time', async () => {
  const first = showLanguage('zh')
  await showLanguage('en')
  await first
  expect(document.documentElement.lang).toBe('en')
  await showLanguage('zh')
  expect(document.documentElement.lang).toBe('zh-CN')
  await showLanguage('en')
})
