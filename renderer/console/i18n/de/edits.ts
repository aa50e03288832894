import type { Texts } from '../text.ts'
import type { edits as english } from '../en/edits.ts'

/** Conflicts of edits. */
export const edits: Texts<typeof english> = {
  title: 'Inzwischen geändert',
  body: 'Während Sie bearbeitet haben, wurden dieselben Felder an anderer Stelle geändert. Wählen Sie, welcher Wert bleibt. Alles andere, was Sie geändert haben, wird gespeichert.',
  mine: 'Ihr Wert',
  theirs: 'Aktueller Wert',
  theirsBy: 'Geändert von {name}, {time}',
  none: 'keiner',
  secret: 'verborgen',
  change: '{field}: {before} → {after}',
  secretChanged: '{field} geändert',
  quoted: '„{text}“',
  part: '{field} ({part})',
  named: '{field}: {value}',
  separator: '; ',
  templateSettings: 'Raumeinstellungen',
}
