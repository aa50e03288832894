import type { Texts } from '../text.ts'
import type { restart as english } from '../en/restart.ts'

export const restart: Texts<typeof english> = {
  hint: 'Clients können sich nicht verbinden, obwohl die Ports stimmen?',
  action: 'Listener neu starten',
  title: 'Die beiden API-Listener neu starten?',
  body: 'Clients erhalten einen Moment lang keine Antworten. Räume, Personen und Geräte sind nicht betroffen.',
  done: 'Die Listener wurden neu gestartet',
}
