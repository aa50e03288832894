import { type Language, preferredLanguage } from '../languages.ts'
import de from '../../texts/de/server.json' with { type: 'json' }
import en from '../../texts/en/server.json' with { type: 'json' }
import zh from '../../texts/zh/server.json' with { type: 'json' }

/** Texts of pages that the server makes itself. */
export type ServerTexts = typeof en

const catalogues: Readonly<Record<Language, ServerTexts>> = { en, zh, de }

/** Returns the texts in the first preferred language that has them. @param preferred language tags */
export function serverTexts(preferred: readonly string[]): { language: Language; texts: ServerTexts } {
  const language = preferredLanguage(preferred)
  return { language, texts: catalogues[language] }
}
