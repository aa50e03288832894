import { ApiError } from '../../shared/result-codes.ts'
import type { WantedLock } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Rooms } from './room-lifecycle.ts'

/** Needs of locking a room for its host. */
export interface HostLockParts {
  rooms: Pick<Rooms, 'lock' | 'unlock'>
  /** Runs the change and records it. */
  recorded: <T>(wanted: WantedLock, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/** A host of a room, as its node has found, wants it locked or unlocked. Resolves to whether it is, on disk and at the node. Never rejects. */
export async function lockForHost({ rooms, recorded, logger }: HostLockParts, wanted: WantedLock): Promise<boolean> {
  try {
    await recorded(wanted, () => (wanted.locked ? rooms.lock(wanted.roomId) : rooms.unlock(wanted.roomId)))
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'a room was not locked for its host')
    return false
  }
}
