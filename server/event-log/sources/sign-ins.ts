import type { EventActor } from '../../../shared/console/events.ts'
import type { EventSink } from '../event-log.ts'

/** Writes who signed in to the console, and who offered a wrong key. */
export function tellSignIns(sink: EventSink): {
  accepted(client: string): void
  refused(client: string, blocked: boolean): void
} {
  const subject = { type: 'site', id: '', name: '' } as const
  const actor = (name: string, address: string): EventActor => ({ type: 'operator', name, address })
  return {
    accepted: (client) => sink.append({ kind: 'signIn.accepted', subject, actor: actor('console key', client) }),
    refused: (client, blocked) =>
      sink.append({
        kind: 'signIn.refused',
        level: 'warning',
        subject,
        actor: { type: 'client', name: '', address: client },
        params: { blocked },
      }),
  }
}
