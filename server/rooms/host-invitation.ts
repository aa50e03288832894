import { ApiError } from '../../shared/result-codes.ts'
import type { WantedInvite } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { JoinLinks } from './join-links.ts'

/** Needs of an invitation by a host. */
export interface HostInvitationParts {
  joinLinks: Pick<JoinLinks, 'make' | 'makerOf'>
  /** Makes the link and records it. */
  recorded: <T>(wanted: WantedInvite, change: () => Promise<T>) => Promise<T>
  logger: NodeLogger
}

/**
 * Makes the join link for anybody that a host of a room, as its node has found, wants to send. It ends with the maker of the link by which the host came; a host whose
 * link has ended makes none. Never throws.
 */
export async function inviteForHost(
  { joinLinks, recorded, logger }: HostInvitationParts,
  wanted: WantedInvite,
): Promise<string | undefined> {
  try {
    const { roomId, link } = wanted
    const maker = link === undefined ? ({ type: 'site' } as const) : joinLinks.makerOf(roomId, link)
    if (maker === undefined) return undefined
    const { url } = await recorded(wanted, () => joinLinks.make({ roomId, role: 'member', maker }))
    return url
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'no join link was made for a host')
    return undefined
  }
}
