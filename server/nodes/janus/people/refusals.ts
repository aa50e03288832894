import type { CarrierRefusal } from '../../front/room-carrier.ts'
import { NodeError } from '../../media-node.ts'
import { JanusError, janusCodes } from '../janus-error.ts'

/** They are not in the room, or there is no such session. */
export class NotThere extends NodeError {}

const refusals: Readonly<Record<number, CarrierRefusal>> = {
  [janusCodes.noRoom]: 'noRoom',
  [janusCodes.noFeed]: 'noStream',
  [janusCodes.publishersFull]: 'tooManyVideos',
  [janusCodes.noSession]: 'noSession',
  [janusCodes.noHandle]: 'noSession',
  [janusCodes.badDescription]: 'badOffer',
}

/** Why a request failed, in the words of the room page's program. */
export function refusalOf(error: unknown): CarrierRefusal {
  if (error instanceof NotThere) return 'noSession'
  if (!(error instanceof JanusError)) return 'busy'
  return refusals[error.code] ?? 'busy'
}
