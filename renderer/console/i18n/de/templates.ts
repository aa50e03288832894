import type { Texts } from '../text.ts'
import type { templates as english } from '../en/templates.ts'

export const templates: Texts<typeof english> = {
  title: 'Raumvorlagen',
  act: 'Vorlagen',
  from: 'Vorlage',
  noTemplate: 'Keine',
  save: 'Als Vorlage speichern',
  saveTitle: 'Raum als Vorlage speichern',
  name: 'Name',
  hint: 'Übernimmt Modus, Besitzer, Grenzen, Beitritt, Warteraum und Schlagwörter; nicht Nummer, Zeitplan und Moderationspasswort.',
  saved: 'Vorlage „{name}“ gespeichert',
  none: 'Noch keine Vorlagen. Öffnen Sie einen Raum, und wählen Sie „Als Vorlage speichern“.',
  editOne: 'Bearbeiten: {name}',
  editTitle: 'Vorlage bearbeiten',
  deleteOne: 'Löschen: {name}',
  deleteTitle: 'Vorlage „{name}“ löschen?',
  deleteBody: 'Sie kann nicht wiederhergestellt werden. Damit erstellte Räume bleiben.',
  deleted: 'Vorlage „{name}“ gelöscht',
}
