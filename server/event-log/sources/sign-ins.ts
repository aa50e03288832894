import type { EventActor } from '../../../shared/console/event-actor.ts'
import type { EventSink } from '../event-log.ts'

/** Writes who signed in to the console, and who offered a wrong key or password; `account` is empty for the key. */
export function recordSignIns(sink: EventSink): {
  accepted(client: string, account: string): void
  refused(client: string, blocked: boolean, account: string): void
} {
  const subject = { type: 'site', id: '', name: '' } as const
  const actor = (name: string, address: string): EventActor => ({ type: 'operator', name, address })
  return {
    accepted: (client, account) =>
      sink.append({ kind: 'signIn.accepted', subject, actor: actor(account || 'console key', client) }),
    refused: (client, blocked, account) =>
      sink.append({
        kind: 'signIn.refused',
        level: 'warning',
        subject,
        actor: { type: 'client', name: '', address: client },
        params: account === '' ? { blocked } : { blocked, account },
      }),
  }
}
