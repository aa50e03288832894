import { languageOf, preferredLanguage } from '../../shared/languages.ts'
import english from '../../texts/en/player.json'

/** Texts of the page, with the keys of English. */
export type Texts = typeof english

const files = import.meta.glob<Texts>('../../texts/*/player.json', { eager: true, import: 'default' })

/** Returns the texts and their language tag: by the `lang` of the address, else by the browser's languages. */
export function textsOf(search: string, languages: readonly string[]): { lang: string; texts: Texts } {
  const inAddress = new URLSearchParams(search).get('lang') ?? ''
  const { id, tag } = languageOf(preferredLanguage([inAddress, ...languages]))
  return { lang: tag, texts: files[`../../texts/${id}/player.json`] ?? english }
}
