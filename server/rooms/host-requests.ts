import { ApiError } from '../../shared/result-codes.ts'
import type { WantedInvite, WantedLock } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { JoinLinks } from './join-links.ts'
import type { Rooms } from './room-lifecycle.ts'

export interface HostInvitationDependencies {
  joinLinks: Pick<JoinLinks, 'make' | 'byId'>
  /** Creates the link and records it. */
  recorded: <T>(wanted: WantedInvite, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/**
 * Creates a join link that the host of a room can send to others; the room's node has verified the host. The link has
 * the same maker as the host's own link, and expires at the latest with that maker's access token. It never expires if
 * the host's link never expires. Returns undefined if the host's own link has ended, or on an error. Never rejects.
 */
export async function inviteForHost(
  { joinLinks, recorded, logger }: HostInvitationDependencies,
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

export interface HostLockDependencies {
  rooms: Pick<Rooms, 'lock' | 'unlock'>
  /** Runs the change and records it. */
  recorded: <T>(wanted: WantedLock, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/**
 * Locks or unlocks a room for a host, whom the room's node has verified. Resolves to whether the change was stored.
 * Never rejects.
 */
export async function lockForHost(
  { rooms, recorded, logger }: HostLockDependencies,
  wanted: WantedLock,
): Promise<boolean> {
  try {
    await recorded(wanted, () => (wanted.locked ? rooms.lock(wanted.roomId) : rooms.unlock(wanted.roomId)))
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'a room was not locked for its host')
    return false
  }
}
