import type { tags as english } from '../en/tags.ts'
import type { Texts } from '../text.ts'

/** Tags of rooms and devices. */
export const tags: Texts<typeof english> = {
  title: 'Schlagwörter',
  add: 'Schlagwörter hinzufügen',
  edit: 'Schlagwörter bearbeiten',
  act: 'Schlagwörter…',
  filter: 'Nur Zeilen mit diesen Schlagwörtern',
  filterBy: 'nur Zeilen mit diesem Schlagwort zeigen',
  unfilter: 'danach gefiltert: Klicken hebt es auf',
  group: 'Nach Schlagwort gruppieren',
  groupShort: 'Gruppieren',
  none: 'Ohne Schlagwort',
  openAll: 'Alle aufklappen',
  closeAll: 'Alle zuklappen',
  placeholder: 'Schlagwort eingeben oder auswählen',
  hint: 'Nach jedem die Eingabetaste drücken; je höchstens 40 Zeichen.',
  typeNew: 'Schlagwort eingeben und die Eingabetaste drücken',
  new: 'neu',
  noMatch: 'Kein solches Schlagwort',
  dialog: {
    rooms: 'Schlagwörter von {n} Raum | Schlagwörter von {n} Räumen',
    devices: 'Schlagwörter von {n} Gerät | Schlagwörter von {n} Geräten',
    add: 'Hinzufügen',
    remove: 'Entfernen',
  },
  drop: {
    title: 'Änderungen verwerfen?',
    body: 'Die hier geänderten Schlagwörter sind noch nicht gespeichert.',
    act: 'Verwerfen',
  },
  told: {
    saved: 'Die Schlagwörter wurden gespeichert',
    nothing: 'Kein Schlagwort musste geändert werden',
    rooms: 'Schlagwörter von {n} Raum geändert | Schlagwörter von {n} Räumen geändert',
    devices: 'Schlagwörter von {n} Gerät geändert | Schlagwörter von {n} Geräten geändert',
  },
  found: {
    rooms: '{n} Raum | {n} Räume',
    devices: '{n} Gerät | {n} Geräte',
  },
}
