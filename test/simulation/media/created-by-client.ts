import { ClientEvents } from '../../../server/event-log/sources/clients.ts'
import { PeopleNames } from '../../../server/event-log/site-state.ts'
import { causedBy } from '../../../server/store/change-cause.ts'
import type { Store } from '../../../server/store/store.ts'
import { collectingSink } from '../../support/collecting-sink.ts'

/** Runs the creation of a room as an operation of the API does: its event is stored with it. */
export function createdByClient<T>(store: Pick<Store, 'get' | 'unseal'>, create: () => Promise<T>): Promise<T> {
  const events = new ClientEvents(store, collectingSink(), new PeopleNames())
  const caller = { client: '10.0.0.1', accessKey: 'demo_access' }
  const cause = events.of('create_room', { room: '', parameters: new Map() }, caller)
  return cause === undefined ? create() : causedBy(cause, create)
}
