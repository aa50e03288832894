import type { EventEntry } from '../../shared/domain/events.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { PendingEvents } from '../event-log/pending-events.ts'
import { entryPages } from '../event-log/read-log.ts'
import type { IncidentRecord } from '../lab/scenarios/incident-steps.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { RequestJournal } from '../observe/request-journal.ts'
import type { Store } from '../store/store.ts'
import { licenceOf } from './site-procedures.ts'

export interface IncidentSources {
  store: Store
  log: SharedEventLog
  pendingEvents: Pick<PendingEvents, 'caughtUp'>
  journal: RequestJournal
  presence: Pick<NodePool['presence'], 'usersOf'>
  deviceState: (userId: string) => string
  product: string
}

const pageSize = 500
/** Maximum number of events that are read; more than a scenario can repeat. */
const maxEvents = 5_000

/** Reads what happened in a stretch, and who is in its rooms now. @param to at most now, in milliseconds since the epoch */
export async function incidentRecord(sources: IncidentSources, from: number, to: number): Promise<IncidentRecord> {
  const { store, journal, presence, product, deviceState } = sources
  const events = await eventsOf(sources, from, to)
  const calls = journal
    .list({ since: from, search: '', limit: journal.capacity })
    .items.filter(({ at }) => at <= to)
    .toReversed()
  const ids = new Set([
    ...events.map(({ room, subject }) => (subject.type === 'room' ? subject.id : room)),
    ...calls.map(({ room }) => room),
  ])
  const rooms = [...ids].flatMap((id) => store.get('rooms', id) ?? [])
  const known = new Set(rooms.map(({ room_id }) => room_id))
  return {
    ...{ from, to, product, events, calls, licence: licenceOf(store) },
    nodes: [...store.all('nodes').values()].filter(({ enabled }) => enabled).map(({ name }) => name),
    rooms: new Map(
      rooms.map(({ room_id, topic, room_mode, attendee_max, room_extend_id }) => [
        room_id,
        { topic, room_mode, attendee_max, room_extend_id },
      ]),
    ),
    cameras: [...store.all('devices').values()]
      .filter(({ roomId }) => known.has(roomId))
      .map(({ roomId: room, userId: id, userName: name, userAddress }) => ({
        ...{ room, id, name, state: deviceState(id) },
        address: shownAddress(userAddress),
      })),
    people: rooms.flatMap(({ room_id: room }) =>
      presence
        .usersOf(room)
        .filter(({ device }) => !device)
        .map(({ userId: id, userName: name }) => ({ room, id, name })),
    ),
  }
}

/** Returns the events of a stretch, oldest first. */
async function eventsOf({ log, pendingEvents }: IncidentSources, from: number, to: number): Promise<EventEntry[]> {
  await pendingEvents.caughtUp()
  const found: EventEntry[] = []
  for await (const items of entryPages(log, { from, to }, pageSize)) {
    found.push(...items)
    if (found.length >= maxEvents) break
  }
  return found.toReversed()
}
