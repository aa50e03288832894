import type { Texts } from '../text.ts'
import type { help as english } from '../en/help.ts'

export const help: Texts<typeof english> = {
  purpose: 'Die Dokumentation dieser Version. Sie braucht kein Internet.',
  about: 'Hilfe: {name}',
  openPage: 'Ganze Seite öffnen',
  contents: 'Hilfeseiten',
  all: 'Alle Seiten',
  groups: { operate: 'Eine Anlage betreiben', integrate: 'Einen Client schreiben' },
  onPage: 'Auf dieser Seite',
  previous: 'Zurück',
  next: 'Weiter',
  code: 'Code',
  table: 'Tabelle',
  linkTo: 'Link zu „{name}“',
  missing: 'Diese Hilfeseite gibt es nicht',
  missingBody: 'Der Link stammt vielleicht aus einer anderen Version. Die Liste enthält alle Seiten.',
  onlyEnglish: 'Die Dokumentation gibt es nur auf Englisch.',
}
