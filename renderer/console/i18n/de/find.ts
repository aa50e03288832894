import type { Texts } from '../text.ts'
import type { find as english } from '../en/find.ts'

export const find: Texts<typeof english> = {
  title: 'Suchen',
  open: 'Alles durchsuchen (Strg+K)',
  label: 'Räume, Personen, Kameras, Schlagwörter, Einstellungen, Hilfe suchen…',
  results: 'Ergebnisse',
  nothing: 'Nichts gefunden',
  count: '{n} Ergebnis | {n} Ergebnisse',
  more: 'weitere: Tippen Sie mehr ein',
  allEvents: 'Alle Ereignisse nach „{text}“ durchsuchen',
  groups: {
    recent: 'Zuletzt geöffnet',
    tags: 'Schlagwörter',
    people: 'Personen in Räumen',
    pages: 'Seiten',
    actions: 'Aktionen',
    settings: 'Einstellungen',
    help: 'Hilfe',
  },
  acts: {
    newRoom: 'Neuer Raum',
    newDevice: 'Gerät hinzufügen',
    dark: 'Dunkles Design',
    light: 'Helles Design',
    signOut: 'Abmelden',
  },
}
