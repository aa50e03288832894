import type { Translate } from '../../i18n/text.ts'

/** Translates the controller's placeholder for a hidden value. */
export function hiddenText(text: string, t: Translate): string {
  return text
    .replace(/\[(\d+) characters?\]/g, (_, n: string) => t('activity.panel.characters', { n: Number(n) }))
    .replace(/^(?:parameter|field) (\d+)/, (_, n: string) => t('activity.panel.parameter', { n: Number(n) }))
}

/** Returns whether a part of a value is hidden. */
export function isHidden(text: string): boolean {
  return /\[(redacted|\d+ characters?|number|list of \d+|object of \d+)\]/.test(text)
}
