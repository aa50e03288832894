/** Reasons for which the node refuses a request, by their names in the API. */
const refusals = {
  badRequest: { status: 400, title: 'The request is not valid' },
  badOffer: { status: 400, title: 'The offer is not valid' },
  unauthorised: { status: 401, title: 'A valid join link is required' },
  hostPasswordWrong: { status: 401, title: 'The host password is wrong' },
  roomFull: { status: 403, title: 'The room is full', code: 507 },
  tooManyVideos: { status: 403, title: 'The room has reached its video limit', code: 800 },
  tooManyAudios: { status: 403, title: 'The room has reached its audio limit', code: 801 },
  locked: { status: 403, title: 'The room is locked' },
  removed: { status: 403, title: 'You were removed from this room' },
  waiting: { status: 403, title: 'A host has to let you in: join on the room page' },
  turnedAway: { status: 403, title: 'The host did not let you in' },
  forbidden: { status: 403, title: 'This is for the host only' },
  notOpenYet: { status: 403, title: 'The room is scheduled, and opens later' },
  noRoom: { status: 404, title: 'The room is not open' },
  elsewhere: { status: 307, title: 'The room is on another node' },
  noStream: { status: 404, title: 'There is no such stream in the room' },
  noSession: { status: 404, title: 'There is no such session' },
  notFound: { status: 404, title: 'Nothing is at this address' },
  method: { status: 405, title: 'The method is not allowed here' },
  codec: { status: 406, title: 'No codec in common' },
  taken: { status: 409, title: 'This user id is already in the room' },
  peerToPeer: { status: 409, title: 'People in this room connect to each other' },
  stale: { status: 412, title: 'The session has changed since' },
  tooLarge: { status: 413, title: 'The request is too large' },
  mediaType: { status: 415, title: 'The content type is not supported' },
  restart: { status: 422, title: 'ICE restarts are not supported' },
  tooMany: { status: 429, title: 'Too many attempts: wait a minute' },
  transcoders: { status: 503, title: 'The node is converting as many streams as it may: try again later' },
  busy: { status: 503, title: 'The node has no room for more connections' },
} as const satisfies Record<string, { status: number; title: string; code?: number }>

export type ProblemName = keyof typeof refusals

/**
 * A refusal by the node, sent as a problem document (RFC 9457) or as a `refused` message on the signalling connection.
 */
export class Problem extends Error {
  readonly refusal: ProblemName
  constructor(refusal: ProblemName, detail?: string) {
    super(detail ?? refusals[refusal].title)
    this.name = 'Problem'
    this.refusal = refusal
  }

  get status(): number {
    return refusals[this.refusal].status
  }

  /**
   * Numeric code that existing clients expect: 507 room full, 800 too many videos, 801 too many audios; undefined for
   * all other refusals.
   */
  get code(): number | undefined {
    const entry: { status: number; title: string; code?: number } = refusals[this.refusal]
    return entry.code
  }

  /** Returns the problem document. */
  document(): Record<string, unknown> {
    const { status, title } = refusals[this.refusal]
    const document: Record<string, unknown> = {
      type: 'about:blank',
      title,
      status,
      detail: this.message,
      reason: this.refusal,
    }
    if (this.code !== undefined) document.code = this.code
    return document
  }
}

/** Refusal of a user whose room is scheduled and opens later. */
export class NotOpenYet extends Problem {
  /** Times of opening and start, in milliseconds since the epoch. */
  readonly opening: { opensAt: number; startsAt: number }
  constructor(opening: { opensAt: number; startsAt: number }) {
    super('notOpenYet')
    this.opening = opening
  }
}

/** Returns a room's opening as sent to clients. `opens_in_ms` is relative, because the clocks of devices differ. */
export function openingIn({ opensAt, startsAt }: NotOpenYet['opening']): { opens_in_ms: number; starts_at: number } {
  return { opens_in_ms: Math.max(0, opensAt - Date.now()), starts_at: startsAt }
}

/** Refusal of a user who may enter, but whose room is on another node of the site. */
export class OnOtherNode extends Problem {
  /** URL of that node, e.g. `http://10.0.0.5:7084`. */
  readonly url: string
  constructor(url: string) {
    super('elsewhere')
    this.url = url
  }
}
