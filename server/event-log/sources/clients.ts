import type { EventKind, EventSubject } from '../../../shared/console/events.ts'
import type { Observation, RequestObserver } from '../../observe/observation.ts'
import type { Store } from '../../store/store.ts'
import type { EventSink } from '../event-log.ts'
import type { PeopleNames } from '../people-names.ts'
import { roomName, subjectOf } from '../site-state.ts'

interface Told {
  kind: EventKind
  type: EventSubject['type']
  /** The parameter that names the subject; left out: the room. */
  parameter?: string
}

/** Changes by clients of the APIs, by operation; all other operations change nothing that lasts. */
const told: ReadonlyMap<string, Told> = new Map<string, Told>([
  ['create_room', { kind: 'room.created', type: 'room' }],
  ['update_room', { kind: 'room.changed', type: 'room' }],
  ['delete_room', { kind: 'room.deleted', type: 'room' }],
  ['force_offline', { kind: 'person.removed', type: 'person', parameter: 'user_id' }],
  ['create_outgoing_user', { kind: 'device.added', type: 'device', parameter: 'userId' }],
  ['destroy_outgoing_user', { kind: 'device.deleted', type: 'device', parameter: 'userId' }],
])

/** Writes what clients change over the APIs, and who they are. On the hot path: of any other request it is one look-up. */
export function watchClients(
  store: Pick<Store, 'get' | 'all' | 'unseal'>,
  sink: EventSink,
  names: PeopleNames,
): RequestObserver {
  return {
    observe(observation) {
      const found = observation.ret === 0 ? told.get(observation.operation) : undefined
      if (found !== undefined) sink.append({ ...whatOf(store, names, observation, found), actor: actorOf(observation) })
    },
  }
}

function whatOf(
  store: Pick<Store, 'get' | 'all' | 'unseal'>,
  names: PeopleNames,
  { room, params }: Observation,
  { kind, type, parameter }: Told,
) {
  if (parameter === undefined) return { kind, subject: subjectOf(store, type, room) }
  const id = params.get(parameter)
  const found = subjectOf(store, type, typeof id === 'string' ? id : '')
  const subject = type === 'person' ? { ...found, name: names.of(room, found.id) } : found
  return { kind, subject, room, params: { room: roomName(store, room) } }
}

function actorOf({ credential, client }: Observation) {
  return { type: 'client', name: credential, address: client } as const
}
