import { describe, expect, test } from 'vitest'
import { complaints } from '../../shared/refusals/complaints.ts'
import { refusals } from '../../shared/refusals/refusal.ts'
import { placeholders } from '../../shared/refusals/template.ts'
import { refusalText } from '../../renderer/console/composables/useFeedback.ts'
import { i18n, showLanguage } from '../../renderer/console/i18n/index.ts'
import { languages } from '../../shared/languages.ts'

const adminOnly = {
  en: 'Only admins can do this.',
  zh: '只有管理员可以执行此操作。',
  de: 'Das ist Admins vorbehalten.',
}

/** Values for scripts that a reader has no use for. */
const forScripts = new Set(['procedure', 'problem', 'proof', 'host'])

const sentences = [
  ...Object.entries(refusals).map(([name, [, sentence]]) => [`refusals.${name}`, sentence] as const),
  ...Object.entries(complaints).map(([name, sentence]) => [`complaints.${name}`, sentence] as const),
]

describe.each(languages)('Errors in $name', ({ id: language }) => {
  test('every name has a text that shows its values and no others', async () => {
    await showLanguage(language)
    for (const [key, sentence] of sentences) {
      const values = Object.fromEntries(placeholders(sentence).map((name) => [name, `«${name}»`]))
      const text = i18n.global.t(key, values)
      expect(text, key).not.toBe(key)
      expect(text, key).not.toMatch(/[{}]/)
      const shown = new Set([...text.matchAll(/«(\w+)»/g)].map(([, name = '']) => name))
      const missing = Object.keys(values).filter((name) => !shown.has(name) && !forScripts.has(name))
      expect([key, missing]).toEqual([key, []])
    }
  })

  test('an unknown name of a newer controller keeps the sentence', async () => {
    await showLanguage(language)
    const t = (key: string, values = {}) => i18n.global.t(key, values)
    expect(refusalText({ name: 'ofTomorrow', message: 'Not before tomorrow.' }, t)).toBe('Not before tomorrow.')
    const text = refusalText({ name: 'roleMissing', message: '', values: { procedure: 'nodes.add', role: 'admin' } }, t)
    expect(text).toBe(adminOnly[language])
  })
})
