import type { Texts } from '../text.ts'
import type { waiting as english } from '../en/waiting.ts'

export const waiting: Texts<typeof english> = {
  title: 'Warten auf Einlass',
  admit: 'Einlassen',
  admitAll: 'Alle einlassen',
  refuse: 'Abweisen',
  write: 'Nachricht senden',
  since: 'seit {span}',
  room: 'vor „{room}“',
  more: 'und {n} weitere',
  admitted: '{name} wurde eingelassen | {n} Personen wurden eingelassen',
  refused: '{name} wurde abgewiesen',
  refuseTitle: '{name} abweisen?',
  refuseBody: 'Diese Person wird nicht in „{room}“ eingelassen und kann nach einer Minute wieder anfragen.',
  refusals: {
    notWaiting: 'Einige Personen warten nicht mehr.',
    locked: 'Der Raum ist gesperrt: Entsperren Sie ihn, um Personen einzulassen.',
    roomFull: 'Der Raum ist voll: Erhöhen Sie seine Grenze, um weitere Personen einzulassen.',
    failed: 'Der Knoten des Raums antwortet nicht. Versuchen Sie es erneut.',
  },
  message: {
    title: 'Nachricht an {name}',
    titleAll: 'Nachricht an alle Wartenden vor „{room}“',
    label: 'Nachricht',
    placeholder: 'Bitte warten Sie fünf Minuten',
    hint: 'Wird auf der Warteseite unter dem Namen Ihres Kontos gezeigt.',
    send: 'Senden',
    sent: 'Die Nachricht wurde gezeigt',
    quick: 'Kurznachrichten',
    soon: 'Sie werden gleich eingelassen.',
    late: 'Die Besprechung beginnt einige Minuten später.',
    wrong: 'Das ist der falsche Raum. Bitte prüfen Sie Ihre Einladung.',
  },
  notice: {
    label: 'Wartende Gäste',
    one: '{name} wartet auf Einlass in „{room}“',
    many: '{n} Personen warten auf Einlass',
    show: 'Anzeigen',
    hide: 'Verbergen',
  },
  count: '{n} Person wartet | {n} Personen warten',
}
