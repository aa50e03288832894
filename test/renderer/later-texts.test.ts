import { expect, test, vi } from 'vitest'

test('A console in German loads the English texts of a page only when it changes to English', async () => {
  // As the first load has them.
  vi.resetModules()
  const { i18n, showLanguage, withLaterTexts } = await import('../../renderer/console/i18n/index.ts')
  const english = () => Object.keys(i18n.global.getLocaleMessage('en'))
  await showLanguage('de')
  await withLaterTexts(() => Promise.resolve('a page'))()
  expect(english()).not.toContain('trash')
  await showLanguage('en')
  expect(english()).toContain('trash')
})
