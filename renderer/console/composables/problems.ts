import type { z } from 'zod'
import type { TextKey, Translate } from '../i18n/text.ts'

/** Patterns of the controller's sentences about ports and files. */
const known: readonly (readonly [RegExp, TextKey])[] = [
  [/^Port (?<port>\d+) on \S+ is in use by another program/, 'problems.portTaken'],
  [/^Port (?<port>\d+) on \S+ is in use by (?<holder>.+?)\.?$/, 'problems.portInUse'],
  [/^Port (?<port>\d+) is given to two listeners/, 'problems.portTwice'],
  [/^No permission to listen on port (?<port>\d+)/, 'problems.portForbidden'],
  [/^(?<host>\S+) is not an address of this machine/, 'problems.noAddress'],
  [/^There is no such file/, 'problems.noFile'],
  [/^Name a file in PEM/, 'problems.nameFile'],
  [/^This file holds no certificate/, 'problems.notCertificate'],
  [/^This file holds no private key/, 'problems.notKey'],
  [/^This key does not belong/, 'problems.otherKey'],
  [/^must be an http or https URL/, 'problems.webAddress'],
]

/** Translates zod's finding for the operator. */
export function issueText(issue: z.core.$ZodIssue, input: unknown, t: Translate): string {
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined || input === null || input === '' ? t('problems.required') : t('problems.type')
    case 'too_small':
      if (issue.origin === 'string' && input === '') return t('problems.required')
      if (issue.origin === 'array') return t('problems.some')
      return t(issue.origin === 'string' ? 'problems.shortest' : 'problems.least', { limit: String(issue.minimum) })
    case 'too_big':
      if (issue.origin === 'array') return t('problems.many', { limit: String(issue.maximum) })
      return t(issue.origin === 'string' ? 'problems.longest' : 'problems.most', { limit: String(issue.maximum) })
    case 'custom':
      return sentence(issue.message, input, t)
    case 'invalid_format':
      return input === '' ? t('problems.required') : sentence(issue.message, input, t)
    default:
      return sentence(issue.message, input, t)
  }
}

/** Translates a sentence of the shared schemas or of the controller, if it is a known one. */
export function sentence(message: string, input: unknown, t: Translate): string {
  const range = /must be (\d+) to (\d+) bytes/.exec(message)
  if (range?.[1] && range[2]) return input === '' ? t('problems.required') : t('problems.bytes', { limit: range[2] })
  const most = /must be at most (\d+) bytes/.exec(message)
  if (most?.[1]) return t('problems.bytes', { limit: most[1] })
  const whole = /must be a whole number from (\d+) to (\d+)/.exec(message)
  if (whole?.[1] && whole[2]) return t('problems.whole', { from: whole[1], to: whole[2] })
  if (message.startsWith('must hold printable ASCII')) return t('problems.ascii')
  if (message.startsWith('must not hold control')) return t('problems.controls')
  if (message.startsWith('must be host:port')) return t('problems.hostPort')
  if (message.startsWith('must start with a letter or digit')) return t('problems.nodeName')
  for (const [pattern, key] of known) {
    const found = pattern.exec(message)
    if (found) return t(key, { ...found.groups })
  }
  if (message.startsWith('Invalid ISO')) return t('problems.date')
  if (message.startsWith('Invalid')) return t('problems.type')
  return message
}
