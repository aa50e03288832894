import { expect, test } from 'vitest'
import type * as Texts from '../../renderer/console/i18n/index.ts'

/** Another copy of the module, as the first load has it; the registry of modules is shared with other files. */
const fresh = '../../renderer/console/i18n/index.ts?fresh'

test('A console in German loads the English texts of a page only when it changes to English', async () => {
  const { i18n, showLanguage, withLaterTexts }: typeof Texts = await import(fresh)
  const english = () => Object.keys(i18n.global.getLocaleMessage('en'))
  await showLanguage('de')
  await withLaterTexts(() => Promise.resolve('a page'))()
  expect(english()).not.toContain('trash')
  await showLanguage('en')
  expect(english()).toContain('trash')
})
