import type { Texts } from '../text.ts'
import type { restore as english } from '../en/restore.ts'

export const restore: Texts<typeof english> = {
  proof: { missing: 'Herkunft nicht belegt', wrong: 'Geändert oder fremd' },
  unproven: {
    missing:
      'Nichts belegt, dass diese Anlage diese Sicherung erstellt hat: Es war eine frühere Version oder ein anderes Programm.',
    wrong: 'Diese Sicherung wurde nach dem Erstellen geändert, oder eine andere Anlage hat sie erstellt.',
    here: 'Stellen Sie sie nur wieder her, wenn Sie ihre Herkunft kennen: Sie entscheidet auch, wer sich anmelden darf.',
    elsewhere:
      'Sie kann nur auf dem Computer selbst wiederhergestellt werden: in der Desktop-App oder unter http://127.0.0.1 mit dem Konsolenschlüssel.',
  },
  access: {
    title: 'Konten und Zugriffstoken',
    gained: 'Kommt zurück',
    lost: 'Entfernt',
    changed: 'Wie damals',
    account: '{name} ({role})',
    disabled: '{name} ({role}, deaktiviert)',
    token: 'Token {name} von {account} ({role}, bis {date})',
    more: '{n} weitere',
  },
}
