import { foldedText, searchWords } from '../../../shared/folded-text.ts'
import { settingCards } from '../../../shared/settings/setting.ts'
import type { Language } from '../../../shared/languages.ts'
import { settingsOfCard } from '../../../shared/settings.ts'
import { titledPages } from '../pages.ts'
import type { TextKey, Translate } from '../i18n/text.ts'
import { helpEntries } from '../help/contents.ts'
import type { FindEntry } from './recent-finds.ts'

/** Returns the entries of the console's pages. */
export function pageEntries(t: Translate, opens: (path: string) => boolean): FindEntry[] {
  return titledPages
    .filter(({ address }) => opens(address))
    .map(({ name, title, address }) => ({ key: `page ${name}`, title: t(title), detail: '', to: address }))
}

/**
 * Returns entries of the settings by label and hint; each opens its card. Ports are excluded, because a site shows only
 * those of its listeners.
 */
export function settingEntries(t: Translate): FindEntry[] {
  const { listeners: _, recordingRules: __, ...cards } = settingCards
  return Object.entries(cards).flatMap(([name, tab]) => {
    const card = name as keyof typeof cards
    return settingsOfCard(card).map(({ path }) => ({
      key: `setting ${path}`,
      title: t(`settings.fields.${path}.label` as TextKey),
      detail: [t(`settings.cards.${card}`), t(`settings.fields.${path}.hint` as TextKey)]
        .filter((text) => text !== '')
        .join(' · '),
      to: `/settings/${tab}?setting=${path}`,
    }))
  })
}

/** Returns entries of the docs' pages and headings, in a language or in English. */
export function docEntries(language: Language): FindEntry[] {
  return helpEntries(language).flatMap(({ path, title, headings }) => [
    { key: `help ${path}`, title, detail: '', to: path },
    ...headings.map(({ id, text }) => ({ key: `help ${path}#${id}`, title: text, detail: title, to: `${path}#${id}` })),
  ])
}

/**
 * Returns the entries that contain every word of the search; those whose title starts with the first word come first.
 */
export function matchingEntries(entries: readonly FindEntry[], text: string, limit: number): FindEntry[] {
  const words = searchWords(text)
  const [first = ''] = words
  const matching = entries.flatMap((entry) => {
    const title = foldedText(entry.title)
    const whole = `${title} ${foldedText(entry.detail)}`
    if (!words.every((word) => whole.includes(word))) return []
    return [{ entry, rank: title.startsWith(first) ? 0 : title.includes(first) ? 1 : 2 }]
  })
  return matching
    .sort((one, other) => one.rank - other.rank)
    .slice(0, limit)
    .map(({ entry }) => entry)
}
