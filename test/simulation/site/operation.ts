import { ApiError } from '../../../shared/result-codes.ts'
import type { RoomSchedule } from '../../../shared/schedule/room-schedule.ts'
import { createdByClient } from '../media/created-by-client.ts'
import type { MediaOperation } from '../media/media-operation.ts'
import type { StoredRoom } from '../../../server/store/records.ts'
import { HandedOverError } from '../../../server/store/postgres/database-error.ts'
import type { Store } from '../../../server/store/store.ts'

/** As settings.deadlines.store_ms. */
export const deadlineMs = 5_000

/** Request of a client. */
export type Operation =
  | { kind: 'create'; key: string }
  | { kind: 'write'; key: string; version: number }
  | { kind: 'read'; key: string }
  /** Makes a room with one meeting. @param start as `2026-01-01T00:01` */
  | { kind: 'schedule'; key: string; start: string }
  | MediaOperation

/** Answer to it. `version` 0: there is no such room. */
export type Reply =
  | { kind: 'done'; version: number; id: number; order?: { id: string; token: string } }
  /** @param isCertain certainly nothing of it is stored, now or later */
  | { kind: 'refused'; why: string; isCertain?: true }
  /** Another controller passed it on to one that does not lead. */
  | { kind: 'notLeader' }

const media: ReadonlySet<Operation['kind']> = new Set(['order', 'stop', 'remove', 'look', 'press', 'release', 'page'])

/** Whether it is about rooms, not about recordings and live streams. */
export function isOfRooms(operation: Operation): operation is Exclude<Operation, MediaOperation> {
  return !media.has(operation.kind)
}

/** Does what a client asks. @throws what the store refuses it with */
export async function carryOut(
  store: Pick<Store, 'get' | 'unseal' | 'transact' | 'nextRoomNumber'>,
  operation: Exclude<Operation, MediaOperation>,
): Promise<Reply> {
  const { key } = operation
  if (operation.kind === 'read') return done(store.get('rooms', key))
  const change = (): Promise<Reply> => changeRoom(store, operation)
  return operation.kind === 'schedule' ? await createdByClient(store, change) : await change()
}

function changeRoom(
  store: Pick<Store, 'get' | 'transact' | 'nextRoomNumber'>,
  operation: Exclude<Operation, MediaOperation | { kind: 'read' }>,
): Promise<Reply> {
  const { key } = operation
  return store.transact([`room ${key}`], (transaction) => {
    const found = store.get('rooms', key)
    if (operation.kind === 'write' && found === undefined) return done(undefined)
    if (operation.kind !== 'write' && found !== undefined) return done(found)
    // One that its writer has given up comes late, and changes nothing: versions only rise.
    if (operation.kind === 'write' && Number(found?.topic) >= operation.version) return done(found)
    const changed =
      operation.kind === 'schedule'
        ? { ...roomOf(store.nextRoomNumber(), key), schedule: scheduleOf(operation.start) }
        : operation.kind === 'create'
          ? roomOf(store.nextRoomNumber(), key)
          : { ...found, ...roomOf(found?.id ?? 0, key), topic: String(operation.version) }
    transaction.put('rooms', key, changed)
    return done(changed)
  })
}

/** Refuses a call with what it failed with; another controller may answer where this one has handed over. */
export function refusedBy(error: unknown): Reply {
  if (isHandedOver(error)) return { kind: 'notLeader' }
  const isCertain = error instanceof ApiError && error.code === 'storage' && error.refusal.name === 'storage'
  return { kind: 'refused', why: String(error), ...(isCertain && { isCertain }) }
}

/** One meeting of a minute. */
function scheduleOf(start: string): RoomSchedule {
  return { start, minutes: 1, zone: 'UTC', rule: '', early_minutes: 0, overrun_minutes: 0 }
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

function isHandedOver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof HandedOverError || isHandedOver(error.cause)
}
