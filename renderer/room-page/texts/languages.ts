import { isLanguage, type Language, languages as shared, preferredLanguage } from '../../../shared/languages.ts'
import english from '../../../texts/en/room-page.json'

/** Texts of the page, with the keys of English. */
export type Texts = typeof english

const files = import.meta.glob<Texts>(['../../../texts/*/room-page.json', '!../../../texts/en/*'], {
  import: 'default',
})

/** Languages of the page. English is part of the page; the texts of the others are loaded when they are chosen. */
export const languages = shared.map(({ id, tag, name }) => ({
  id,
  tag,
  name,
  load: async (): Promise<Texts> => (await files[`../../../texts/${id}/room-page.json`]?.()) ?? english,
}))

/** Finds a language by its id. */
export function languageOf(id: string): (typeof languages)[number] | undefined {
  return languages.find((each) => each.id === id)
}

/** Returns the id of the chosen language, else of the browser's first one that the page has, else of English. */
export function firstLanguage(chosen: string, preferred: readonly string[]): Language {
  return isLanguage(chosen) ? chosen : preferredLanguage(preferred)
}
