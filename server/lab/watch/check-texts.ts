import type { ClientCheckId } from '../../../shared/domain/client-checks.ts'
import type { Language } from '../../../shared/languages.ts'
import de from '../../../texts/de/console/clientChecks.json' with { type: 'json' }
import en from '../../../texts/en/console/clientChecks.json' with { type: 'json' }
import zh from '../../../texts/zh/console/clientChecks.json' with { type: 'json' }

/** Texts of the console's page of a watched client, which the report uses, too. */
export type CheckTexts = typeof en & { checks: Readonly<Record<ClientCheckId, { title: string; provoke: string }>> }

const catalogues: Readonly<Record<Language, CheckTexts>> = { en, zh, de }

export function checkTexts(language: Language): CheckTexts {
  return catalogues[language]
}
