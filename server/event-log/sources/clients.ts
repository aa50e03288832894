import type { OperationEffect } from '../../../shared/operation.ts'
import { allOperations } from '../../../shared/operations.ts'
import type { Observation, RequestObserver } from '../../observe/observation.ts'
import type { Store } from '../../store/store.ts'
import type { EventSink } from '../event-log.ts'
import type { PeopleNames } from '../people-names.ts'
import { roomName, subjectOf } from '../site-state.ts'

type Recorded = Exclude<OperationEffect, string>

/** Operations that leave an event, by name. */
const recorded: ReadonlyMap<string, Recorded> = new Map(
  allOperations.flatMap(({ name, effect }) => (typeof effect === 'string' ? [] : [[name, effect] as const])),
)

/** Writes what clients change over the APIs, and who they are. On the hot path: of any other request it is one look-up. */
export function watchClients(
  store: Pick<Store, 'get' | 'all' | 'unseal'>,
  sink: EventSink,
  names: PeopleNames,
): RequestObserver {
  return {
    observe(observation) {
      const found = observation.ret === 0 ? recorded.get(observation.operation) : undefined
      if (found !== undefined) sink.append({ ...whatOf(store, names, observation, found), actor: actorOf(observation) })
    },
  }
}

function whatOf(
  store: Pick<Store, 'get' | 'all' | 'unseal'>,
  names: PeopleNames,
  { room, params, operation }: Observation,
  { event: kind, subject: type, id: parameter }: Recorded,
) {
  const about = { room: roomName(store, room), operation }
  if (parameter === undefined) return { kind, subject: subjectOf(store, type, room), params: about }
  const given = params.get(parameter)
  const id = typeof given === 'number' || typeof given === 'string' ? String(given) : ''
  const found = subjectOf(store, type, id)
  const subject = type === 'person' ? { ...found, name: names.of(room, found.id) } : found
  return { kind, subject, room, params: { ...about, id } }
}

function actorOf({ credential, client }: Observation) {
  return { type: 'client', name: credential, address: client } as const
}
