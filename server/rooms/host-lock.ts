import { ApiError } from '../../shared/result-codes.ts'
import type { WantedLock } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Rooms } from './room-lifecycle.ts'

/** Needs of locking a room for its host. */
export interface HostLockParts {
  rooms: Pick<Rooms, 'lock' | 'unlock'>
  /** Called once it is done. */
  done: (wanted: WantedLock) => void
  logger: NodeLogger
}

/** A host of a room, as its node has found, wants it locked or unlocked. Resolves to whether it is, on disk and at the node. Never rejects. */
export async function lockForHost({ rooms, done, logger }: HostLockParts, wanted: WantedLock): Promise<boolean> {
  try {
    await (wanted.locked ? rooms.lock(wanted.roomId) : rooms.unlock(wanted.roomId))
    done(wanted)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'a room was not locked for its host')
    return false
  }
}
