import { ApiError } from '../../shared/result-codes.ts'
import type { WantedInvite } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { JoinLinks } from './join-links.ts'

/** Needs of an invitation by a host. */
export interface HostInvitationParts {
  joinLinks: Pick<JoinLinks, 'make'>
  /** Called once the link is made. */
  done: (wanted: WantedInvite) => void
  logger: NodeLogger
}

/** Makes the join link for anybody that a host of a room, as its node has found, wants to send. Never throws. */
export async function inviteForHost(
  { joinLinks, done, logger }: HostInvitationParts,
  wanted: WantedInvite,
): Promise<string | undefined> {
  try {
    const { url } = await joinLinks.make({ roomId: wanted.roomId, role: 'member', maker: { type: 'site' } })
    done(wanted)
    return url
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'no join link was made for a host')
    return undefined
  }
}
