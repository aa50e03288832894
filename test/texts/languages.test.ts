import { describe, expect, test } from 'vitest'
import { createI18n } from 'vue-i18n'
import { languages } from '../../shared/languages.ts'
import { textsIn } from './catalogue-files.ts'

/** Names in braces, of all plural forms together. */
const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort()

const english = textsIn('en')

describe.each(languages)('Texts in $name', ({ id, tag }) => {
  const files = textsIn(id)

  test('have the same files as in English', () => {
    expect([...files.keys()]).toEqual([...english.keys()])
  })

  test.each([...english])('%s has every key, none besides, and the placeholders of English', (file, originals) => {
    const texts = files.get(file) ?? new Map<string, string>()
    const missing = [...originals.keys()].filter((key) => !texts.has(key))
    const additional = [...texts.keys()].filter((key) => !originals.has(key))
    expect({ missing, additional }).toEqual({ missing: [], additional: [] })
    for (const [key, text] of texts) {
      const original = originals.get(key) ?? ''
      expect([key, placeholders(text)]).toEqual([key, placeholders(original)])
      expect([key, text.trim() === '']).toEqual([key, original === ''])
    }
  })

  test('have one form, one for each plural category of the language, or two: singular and plural', () => {
    const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions()
    const wrong = [...files.values()].flatMap((texts) =>
      [...texts].filter(([, text]) => ![1, 2, pluralCategories.length].includes(text.split(' | ').length)),
    )
    expect(wrong).toEqual([])
  })

  test('can be read by vue-i18n in the console', () => {
    const problems: unknown[] = []
    for (const [file, texts] of files) {
      if (!file.startsWith('console/')) continue
      const messages = { [id]: Object.fromEntries([...texts].map(([key, text]) => [`file.${key}`, text])) }
      const { global } = createI18n({ legacy: false, locale: id, flatJson: true, messages, warnHtmlMessage: false })
      for (const [key, text] of texts) {
        const shown = global.t(`file.${key}`, Object.fromEntries(placeholders(text).map((name) => [name, 1])), 2)
        if (shown.includes('{') || shown === `file.${key}`) problems.push([file, key, shown])
      }
    }
    expect(problems).toEqual([])
  })
})
