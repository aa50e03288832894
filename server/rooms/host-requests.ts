import { ApiError } from '../../shared/result-codes.ts'
import type { WantedInvite, WantedLock } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { JoinLinks } from './join-links.ts'
import type { Rooms } from './room-lifecycle.ts'

/** Needs of an invitation by a host. */
export interface HostInvitationParts {
  joinLinks: Pick<JoinLinks, 'make' | 'byId'>
  /** Makes the link and records it. */
  recorded: <T>(wanted: WantedInvite, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/**
 * Makes the join link for anybody that a host of a room, as its node has found, wants to send. It ends with the maker of the link by which the host came, and has no end if that link has none; a host whose
 * link has ended makes none. Never throws.
 */
export async function inviteForHost(
  { joinLinks, recorded, logger }: HostInvitationParts,
  wanted: WantedInvite,
): Promise<string | undefined> {
  try {
    const { roomId, link } = wanted
    const own = link === undefined ? undefined : joinLinks.byId(roomId, link)
    if (link !== undefined && own === undefined) return undefined
    const life = own?.expires_at === 0 ? { lifeMs: 0 } : {}
    const maker = own?.maker ?? ({ type: 'site' } as const)
    const made = await recorded(wanted, () => joinLinks.make({ roomId, role: 'member', maker, ...life }))
    return made.short_url
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'no join link was made for a host')
    return undefined
  }
}

/** Dependencies of locking a room for its host. */
export interface HostLockParts {
  rooms: Pick<Rooms, 'lock' | 'unlock'>
  /** Runs the change and records it. */
  recorded: <T>(wanted: WantedLock, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/** Locks or unlocks a room for a host that its node has verified. Resolves to whether it was stored and applied at the node. Never rejects. */
export async function lockForHost({ rooms, recorded, logger }: HostLockParts, wanted: WantedLock): Promise<boolean> {
  try {
    await recorded(wanted, () => (wanted.locked ? rooms.lock(wanted.roomId) : rooms.unlock(wanted.roomId)))
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'a room was not locked for its host')
    return false
  }
}
