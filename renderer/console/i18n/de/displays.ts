import type { Texts } from '../text.ts'
import type { displays as english } from '../en/displays.ts'

export const displays: Texts<typeof english> = {
  title: 'Wandbildschirme',
  hint: 'Jeder Bildschirm dieses Computers kann eine gespeicherte Ansicht der Videowand zeigen, allein und im Vollbild. Er bleibt dabei eingeschaltet.',
  display: 'Bildschirm {n}',
  primary: 'Hauptbildschirm',
  unplugged: 'nicht angeschlossen',
  nothing: 'Keine Videowand',
  deleted: 'Eine gelöschte Ansicht',
  noViews: 'Es gibt noch keine gespeicherte Ansicht.',
  makeView: 'Auf der Seite Videowand anlegen',
  atLogin: 'Bei der Anmeldung öffnen',
  atLoginHint: 'Roomdesk startet, wenn Sie sich an diesem Computer anmelden, und öffnet die Videowände.',
  people: 'Wandbildschirme sehen, was Betrachter sehen: Kameras, aber keine Personen in Räumen.',
  peopleSetting: 'Betrachter dürfen Besprechungen ansehen',
  leaveHint: 'Strg+Alt+Q schließt die Videowände; auf einem Mac ist es control+option+Q.',
  open: 'Videowände jetzt öffnen',
  areOpen: 'Die Videowände sind geöffnet.',
  saved: 'Wandbildschirme gespeichert',
  viewGone: 'Diese Ansicht der Videowand wurde gelöscht. Wählen Sie unter Einstellungen, Bildschirme eine andere.',
  leave: { before: 'Mit', after: 'schließen Sie die Videowände' },
}
