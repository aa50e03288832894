import { refusals, type RefusalName } from '../../../shared/refusals/refusal.ts'
import { placeholders } from '../../../shared/refusals/template.ts'
import type { Translate } from '../i18n/text.ts'
import { refusalText } from './refusalText.ts'

/** Refusals that the event log and the states of nodes store as English text: ports and certificates. */
const stored = [
  ...(['portTaken', 'portOwn', 'portHeld', 'portTwice', 'portForbidden', 'hostNotOwn', 'portUnusable'] as const),
  ...(['pemMissing', 'pemNotFound', 'pemUnreadable', 'notCertificate', 'notPrivateKey', 'keyOfOther'] as const),
  ...(['certificateWeak', 'certificateUnusable'] as const),
] satisfies RefusalName[]

const patterns = stored.map((name) => [name, patternOf(refusals[name][1])] as const)

/** Translates a stored English message of the controller; an unknown one stays. */
export function storedSentence(message: string, t: Translate): string {
  for (const [name, pattern] of patterns) {
    const found = pattern.exec(message)
    if (found !== null) return refusalText({ message, name, values: { ...found.groups } }, t)
  }
  return message
}

function patternOf(sentence: string): RegExp {
  const literal = sentence.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  const pattern = placeholders(sentence).reduce((text, name) => text.replace(`{${name}}`, `(?<${name}>.+?)`), literal)
  return new RegExp(`^(?:[a-z_.]+: )?${pattern}$`)
}
