import type { Texts } from '../text.ts'
import type { ice as english } from '../en/ice.ts'

export const ice: Texts<typeof english> = {
  urls: 'Adressen',
  urlsHint: 'stun:- oder turn:-Adressen, eine pro Zeile.',
  username: 'Benutzername',
  credential: 'Passwort',
  add: 'Server hinzufügen',
  remove: 'Diesen Server entfernen',
  none: 'Keine: Browser verbinden sich direkt.',
}
