export const ice = {
  urls: 'Adressen',
  urlsHint: 'stun:- oder turn:-Adressen, eine pro Zeile.',
  username: 'Benutzername',
  credential: 'Passwort',
  add: 'Server hinzufügen',
  remove: 'Diesen Server entfernen',
  none: 'Keine: Browser verbinden sich direkt.',
}
