import type { Translate } from '../../i18n/text.ts'
import type activity from '../../../../texts/en/console/activity.json'

/** Translates the controller's placeholder for a hidden value. */
export function hiddenText(text: string, t: Translate): string {
  return text
    .replace(/\[(\d+) characters?\]/g, (_, n: string) => t('activity.panel.characters', { n: Number(n) }))
    .replace(/^(?:parameter|field) (\d+)/, (_, n: string) => t('activity.panel.parameter', { n: Number(n) }))
}

export function isHidden(text: string): boolean {
  return /\[(redacted|\d+ characters?|number|list of \d+|object of \d+)\]/.test(text)
}

/** Keys of known reasons, by pattern. */
const known: readonly (readonly [RegExp, keyof typeof activity.reasons])[] = [
  [/^no access_key was given$/, 'noKey'],
  [/^there is no credential with this access_key$/, 'noCredential'],
  [/^no digest was given$/, 'noDigest'],
  [/^the digest is not base64$/, 'notBase64'],
  [/^the digest decodes to (?<bytes>\d+) bytes, which no form has$/, 'length'],
  [/^the digest does not match: another secret_key, or another message than the access_key$/, 'mismatch'],
  [/^the digest is right, but its form (?<form>\S+) is switched off$/, 'formOff'],
  [/^the digest is right, but the credential is disabled$/, 'disabled'],
  [/^too many failures from this address$/, 'tooMany'],
  [/^cameras may not be called at this address$/, 'cameraForbidden'],
  [/^(?<count>\d+) attempts within a second$/, 'attempts'],
  [/^the store did not answer in time$/, 'storeLate'],
  [/^no access token was given$/, 'noToken'],
  [/^there is no session with this token$/, 'noSession'],
  [/^the session has ended: it was not used for (?<seconds>\d+) s$/, 'idle'],
  [/^the session has ended: it is older than (?<seconds>\d+) s$/, 'old'],
  [/^the session has ended: it was pushed out: the credential has more than (?<limit>\d+) sessions$/, 'pushedOut'],
  [/^the session has ended: its credential was disabled$/, 'endedDisabled'],
  [/^the session has ended: its credential got a new secret$/, 'endedRotated'],
  [/^the session has ended: its credential was deleted$/, 'endedDeleted'],
  [/^the session has ended: the operator ended it$/, 'endedOperator'],
  [/^there is no such room$/, 'noRoom'],
  [/^the number of this room does not open it$/, 'notByNumber'],
  [/^the room is closed$/, 'roomClosed'],
  [/^the room is locked$/, 'roomLocked'],
]

/** Translates the reason of a refused request; returns an unknown one unchanged. */
export function reasonText(reason: string, t: Translate): string {
  for (const [pattern, key] of known) {
    const found = pattern.exec(reason)
    if (found) return t(`activity.reasons.${key}`, { ...found.groups })
  }
  return reason
}
