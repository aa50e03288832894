import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive, StoredRecording } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { randomInteger } from '../../store/system/random.ts'

/**
 * Checks that something of a room, or of a user in it, is wanted and can be recorded.
 * @throws ApiError parameter, roomNotFound, roomClosed, userNotOnline, nodeTimeout
 */
export async function checkWish(
  rooms: Pick<Rooms, 'get' | 'users'>,
  wish: Pick<StoredRecording | StoredLive, 'room_id' | 'user_id' | 'sound' | 'picture'>,
): Promise<void> {
  if (wish.sound === 'none' && wish.picture === 'none') {
    throw new ApiError('parameter', { refusal: refusal('recordingOfNothing') })
  }
  await checkTarget(rooms, wish)
}

/** Makes an unused id: digits, because some clients read ids as numbers. */
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

/** Whether the capability of a recording or live stream has ended; one that an earlier version stored may have none yet. */
export function isWithoutCapability(
  store: Pick<Store, 'get'>,
  { capability }: Pick<StoredRecording | StoredLive, 'capability'>,
): boolean {
  return capability !== undefined && store.get('capabilities', capability) === undefined
}
