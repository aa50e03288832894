import type { StoredRoom } from '../../../server/store/records.ts'
import type { Store } from '../../../server/store/store.ts'

/** As settings.deadlines.store_ms. */
export const deadlineMs = 5_000

/** Request of a client. */
export type Operation =
  | { kind: 'create'; key: string }
  | { kind: 'write'; key: string; version: number }
  | { kind: 'read'; key: string }

/** Answer to it. `version` 0: there is no such room. */
export type Reply =
  | { kind: 'done'; version: number; id: number }
  | { kind: 'refused'; why: string }
  /** Another controller passed it on to one that does not lead. */
  | { kind: 'notLeader' }

/** Does what a client asks. @throws what the store refuses it with */
export async function carryOut(
  store: Pick<Store, 'get' | 'transact' | 'nextRoomNumber'>,
  operation: Operation,
): Promise<Reply> {
  const { key } = operation
  if (operation.kind === 'read') return done(store.get('rooms', key))
  return await store.transact([`room ${key}`], (transaction) => {
    const found = store.get('rooms', key)
    if (operation.kind === 'write' && found === undefined) return done(undefined)
    if (operation.kind === 'create' && found !== undefined) return done(found)
    // One that its writer has given up comes late, and changes nothing: versions only rise.
    if (operation.kind === 'write' && Number(found?.topic) >= operation.version) return done(found)
    const changed =
      operation.kind === 'create'
        ? roomOf(store.nextRoomNumber(), key)
        : { ...found, ...roomOf(found?.id ?? 0, key), topic: String(operation.version) }
    transaction.put('rooms', key, changed)
    return done(changed)
  })
}

/** All rooms in the memory of a store, to compare. */
export function roomsOf(store: Pick<Store, 'all'> | undefined): string {
  const rooms = store?.all('rooms') ?? new Map<string, StoredRoom>()
  return [...rooms.values()]
    .map(({ id, room_id, topic }) => `${id} ${room_id} ${topic}`)
    .sort()
    .join('\n')
}

/** Version of each room in the memory of a store. */
export function versionsOf(store: Pick<Store, 'all'> | undefined): ReadonlyMap<string, number> {
  const rooms = store?.all('rooms') ?? new Map<string, StoredRoom>()
  return new Map(Array.from(rooms, ([key, { topic }]) => [key, Number(topic)]))
}

function done(room: StoredRoom | undefined): Reply {
  return { kind: 'done', version: Number(room?.topic ?? 0), id: room?.id ?? 0 }
}

function roomOf(id: number, key: string): StoredRoom {
  return {
    id,
    room_id: key,
    topic: '1',
    owner_id: '',
    host_password_sealed: '',
    attendee_max: 50,
    max_audio: 0,
    max_video: 0,
    room_extend_id: key,
    room_mode: 1,
    locked: false,
    closed: false,
    node: '',
    created_by: '',
    created_at: 0,
  }
}
