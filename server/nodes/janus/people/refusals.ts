import type { MediaRefusalName } from '../../../../shared/media/room-media.ts'
import { NodeError } from '../../port/media-node-port.ts'
import { JanusError, janusCodes } from '../wire/janus-error.ts'

/** They are not in the room, or there is no such session. */
export class NotThere extends NodeError {}

const refusals: Readonly<Record<number, MediaRefusalName>> = {
  [janusCodes.noRoom]: 'noRoom',
  [janusCodes.noFeed]: 'noStream',
  [janusCodes.publishersFull]: 'tooManyVideos',
  [janusCodes.noSession]: 'noSession',
  [janusCodes.noHandle]: 'noSession',
  [janusCodes.badDescription]: 'badOffer',
}

/** Refusal for the room page's program. */
export function refusalOf(error: unknown): MediaRefusalName {
  if (error instanceof NotThere) return 'noSession'
  if (!(error instanceof JanusError)) return 'busy'
  return refusals[error.code] ?? 'busy'
}
