import { describe, expect, test } from 'vitest'
import { createI18n } from 'vue-i18n'
import { textsFor } from '../../main/texts.ts'
import { discovery } from '../../renderer/console/i18n/en/discovery.ts'
import { en } from '../../renderer/console/i18n/en/index.ts'
import { later } from '../../renderer/console/i18n/en/later.ts'
import { welcome } from '../../renderer/console/i18n/en/welcome.ts'
import { languageTexts } from '../../renderer/console/i18n/languages.ts'
import { findingTexts } from '../../shared/console/readiness-findings.ts'
import { type Language, languages } from '../../shared/languages.ts'

/** Texts of a catalogue by their path; a text that is made by a function counts as its source. */
function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value === 'function') return [[path, `function of ${value.length}`]]
  return Object.entries(Object(value)).flatMap(([key, each]) => textsOf(each, path === '' ? key : `${path}.${key}`))
}

/** Names in braces, of all plural forms together. */
const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort()

/** All texts of the console in a language, with those that one page loads for itself. */
async function messagesIn(language: Language) {
  const { load, loadFindings, loadWelcome, loadDiscovery } = languageTexts[language]
  return {
    ...(await load()),
    findings: await loadFindings(),
    welcome: await loadWelcome(),
    discovery: await loadDiscovery(),
  }
}

const english = new Map(textsOf({ ...en, ...later, findings: findingTexts, welcome, discovery }))
const ownLanguages = languages.filter(({ id }) => id !== 'en')

describe.each(ownLanguages)('The console in $name', ({ id }) => {
  test('has every text, none besides, and each with the placeholders of the English one', async () => {
    const texts = new Map(textsOf(await messagesIn(id)))
    expect([...english.keys()].filter((path) => !texts.has(path))).toEqual([])
    expect([...texts.keys()].filter((path) => !english.has(path))).toEqual([])
    const wrong = [...texts].filter(([path, text]) => {
      const original = english.get(path) ?? ''
      const isEmpty = text.trim() === ''
      return placeholders(text).join() !== placeholders(original).join() || isEmpty !== (original === '')
    })
    expect(wrong).toEqual([])
  })

  test('has one form for all numbers, or as many as English', async () => {
    const formsOf = (text: string): number => text.split(' | ').length
    const wrong = textsOf(await messagesIn(id)).filter(
      ([path, text]) => ![1, formsOf(english.get(path) ?? '')].includes(formsOf(text)),
    )
    expect(wrong).toEqual([])
  })

  test('has no text that vue-i18n cannot read', async () => {
    const messages = await messagesIn(id)
    const problems: unknown[] = []
    const { global } = createI18n({ legacy: false, locale: id, messages: { [id]: messages }, warnHtmlMessage: false })
    for (const [path, text] of textsOf(messages)) {
      const values = Object.fromEntries(placeholders(text).map((name) => [name, 1]))
      const shown = global.t(path, values, 2)
      if (shown.includes('{') || shown === path) problems.push([path, shown])
    }
    expect(problems).toEqual([])
  })
})

test.each(ownLanguages)('The shell in $name has every text, and none besides', ({ id }) => {
  const shown = new Map(textsOf(textsFor(id, '')))
  const original = new Map(textsOf(textsFor('en', '')))
  expect([...shown.keys()].sort()).toEqual([...original.keys()].sort())
})
