import type { Context } from 'koa'
import type { IceServer } from '../../../shared/settings/media.ts'
import { Problem } from '../base/problem.ts'
import type { OpenedMediaSession } from './whip-whep-media.ts'

/** Requests and responses of WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep), whose bodies are SDP. */

/** Content types of an offer or answer, and of later fragments of the ICE session (RFC 8840, section 9.2). */
export const offerType = 'application/sdp'
export const fragmentType = 'application/trickle-ice-sdpfrag'

/** Header with the ticket of a session, in requests and responses. */
export const ticketHeader = 'Session-Ticket'

/** Maximum size of a request body, in bytes. */
const maxBody = 64 * 1024

/**
 * Reads the body of a request as text.
 * @throws Problem mediaType, tooLarge
 */
export async function readSdp(context: Context, contentType: string): Promise<string> {
  if (context.request.type.toLowerCase() !== contentType) {
    // RFC 9110, section 15.5.16; RFC 5789, section 2.2.
    context.set(contentType === fragmentType ? 'Accept-Patch' : 'Accept-Post', contentType)
    throw new Problem('mediaType', `The content type must be ${contentType}.`)
  }
  if ((context.request.length ?? 0) > maxBody) throw new Problem('tooLarge')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of context.req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBody) throw new Problem('tooLarge')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString('utf8')
}

/** Returns the Bearer token of a request; empty for none (RFC 6750, section 2.1). */
export function bearerOf(context: Context): string {
  return /^Bearer\s+([A-Za-z0-9._~+/=-]+)\s*$/i.exec(context.get('authorization'))?.[1] ?? ''
}

/** Maximum height of a shown picture, in device pixels. */
export const maxHeight = 20_000

/**
 * Returns the height at which the picture will be shown, in device pixels: `?height=180`; undefined if it is not given.
 * @throws Problem badRequest
 */
export function shownHeight({ query }: Context): number | undefined {
  if (query.height === undefined) return undefined
  const height = Number(query.height)
  if (!Number.isInteger(height) || height < 0 || height > maxHeight) throw new Problem('badRequest')
  return height
}

/** One entity tag of a list, weak or strong, or any other text between two commas (RFC 9110, section 8.8.3). */
const entityTag = /(?:W\/)?"[^"]*"|[^\s,]+/g

/**
 * Whether a request's If-Match matches this entity tag (RFC 9110, section 13.1.1). Uses strong comparison, so that a
 * weak tag never matches.
 * @param field If-Match of the request; empty: none. Some WHIP clients put the asterisk in quotes.
 * @param etag a strong tag, including its quotes
 */
export function ifMatchHolds(field: string, etag: string): boolean {
  if (field === '' || field === '*' || field === '"*"') return true
  return field.match(entityTag)?.some((tag) => tag === etag) ?? false
}

/** Writes the response for a new session (RFC 9725, section 4.2), with the ticket to resume it on another process. */
export function created(
  context: Context,
  { session: { id, etag }, sdp, ticket = '' }: OpenedMediaSession,
  iceServers: readonly IceServer[],
): void {
  context.status = 201
  context.type = offerType
  context.set('Location', `/session/${id}`)
  context.set('ETag', etag)
  context.set('Accept-Patch', fragmentType)
  const links = iceServers.flatMap(iceLinks)
  if (links.length > 0) context.set('Link', links)
  context.body = sdp
  if (ticket !== '') context.set(ticketHeader, ticket)
}

/** Builds Link fields with ICE servers (RFC 9725, section 4.6). */
function iceLinks({ urls, username, credential }: IceServer): string[] {
  const login =
    username === ''
      ? ''
      : `; username=${quoted(username)}; credential=${quoted(credential)}; credential-type="password"`
  return urls.map((url) => `<${encodeURI(url)}>; rel="ice-server"${login}`)
}

function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')}"`
}
