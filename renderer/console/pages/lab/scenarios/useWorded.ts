import type { WordedText } from '../../../../../shared/domain/worded-text.ts'
import { useText } from '../../../i18n/text.ts'

/** Returns a function that returns a text of a scenario in the language of the console, or in English. */
export function useWorded(): (text: WordedText) => string {
  const { language } = useText()
  return (text) => (typeof text === 'string' ? text : (text[language.value] ?? text.en))
}
