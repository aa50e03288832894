import type { MediaRefusalName } from '../../../../shared/media/room-media.ts'
import { NodeError } from '../../port/media-node-port.ts'
import { JanusError, janusCodes } from '../wire/janus-error.ts'

/** The user is not in the room, or the session does not exist. */
export class NotThere extends NodeError {}

const refusals: Readonly<Record<number, MediaRefusalName>> = {
  [janusCodes.noRoom]: 'noRoom',
  [janusCodes.noFeed]: 'noStream',
  [janusCodes.publishersFull]: 'tooManyVideos',
  [janusCodes.noSession]: 'noSession',
  [janusCodes.noHandle]: 'noSession',
  [janusCodes.badDescription]: 'badOffer',
}

/** Returns the name of a failure for the room page's program. */
export function mediaRefusalOf(error: unknown): MediaRefusalName {
  if (error instanceof NotThere) return 'noSession'
  if (!(error instanceof JanusError)) return 'busy'
  return refusals[error.code] ?? 'busy'
}
