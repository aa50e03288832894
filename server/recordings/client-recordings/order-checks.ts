import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive, StoredRecording } from '../../store/recording-records.ts'
import type { Store } from '../../store/store.ts'
import { randomInteger } from '../../store/system/random.ts'

/**
 * Checks that an order requests sound or a picture, and that its room or user can be recorded.
 * @throws ApiError parameter, roomNotFound, roomClosed, userNotOnline, nodeTimeout
 */
export async function checkOrder(
  rooms: Pick<Rooms, 'get' | 'users'>,
  order: Pick<StoredRecording | StoredLive, 'room_id' | 'user_id' | 'sound' | 'picture'>,
): Promise<void> {
  if (order.sound === 'none' && order.picture === 'none') {
    throw new ApiError('parameter', { refusal: refusal('recordingOfNothing') })
  }
  await checkTarget(rooms, order)
}

/** Generates an unused id. It contains only digits, because some clients parse ids as numbers. */
export function newOrderId(taken: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = String(randomInteger(1_000_000_000, 2_147_483_646))
    if (!taken.has(id)) return id
  }
}

/**
 * Checks that a room, or a user in it, can be recorded.
 * @throws ApiError roomNotFound, roomClosed, userNotOnline, nodeTimeout
 */
export async function checkTarget(
  rooms: Pick<Rooms, 'get' | 'users'>,
  { room_id, user_id }: Pick<StoredRecording, 'room_id' | 'user_id'>,
): Promise<void> {
  if (rooms.get(room_id).closed) throw new ApiError('roomClosed')
  if (user_id === '') return
  const users = await rooms.users(room_id)
  if (!users.some(({ userId }) => userId === user_id)) throw new ApiError('userNotOnline')
}

/**
 * Whether the capability of a recording or live stream has ended. False for an order of an earlier version that has no
 * capability yet.
 */
export function isWithoutCapability(
  store: Pick<Store, 'get'>,
  { capability }: Pick<StoredRecording | StoredLive, 'capability'>,
): boolean {
  return capability !== undefined && store.get('capabilities', capability) === undefined
}

/** Fields of a recording or live stream that filters use. */
interface Ordered {
  room_id: string
  user_id: string
  created_at: number
  ended_at?: number
}

/** Filter of recordings and live streams; absent fields match everything. */
export interface OrderFilter {
  roomId?: string | undefined
  userId?: string | undefined
  /** Range of the start time, both ends included, in milliseconds since the epoch. */
  from?: number | undefined
  to?: number | undefined
}

export function matches({ room_id, user_id, created_at }: Ordered, { roomId, userId, from, to }: OrderFilter): boolean {
  return (
    (roomId === undefined || room_id === roomId) &&
    (userId === undefined || user_id === userId) &&
    (from === undefined || created_at >= from) &&
    (to === undefined || created_at <= to)
  )
}

/** Returns all orders, the newest first. */
export function newestOrdersFirst<T extends Ordered>(all: ReadonlyMap<string, T>): T[] {
  return [...all.values()].sort((one, other) => other.created_at - one.created_at)
}

/** Returns the ended orders that exceed `limit`, the earliest ended first. */
export function prunedBy<T extends Ordered>(
  all: ReadonlyMap<string, T>,
  limit: number,
  isOver: (ordered: T) => boolean,
): T[] {
  const excess = all.size - limit
  if (excess <= 0) return []
  const over = [...all.values()].filter(isOver)
  return over.sort((one, other) => (one.ended_at ?? 0) - (other.ended_at ?? 0)).slice(0, excess)
}
