import { languageTag } from '../texts/texts.ts'

/** Says a sentence once in the language of the page, where the browser has a voice for it; otherwise nothing is heard. */
export function sayAloud(sentence: string): void {
  if (!('speechSynthesis' in globalThis)) return
  const spoken = new SpeechSynthesisUtterance(sentence)
  spoken.lang = languageTag.value
  speechSynthesis.speak(spoken)
}
