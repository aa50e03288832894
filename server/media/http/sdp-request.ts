import type { Context } from 'koa'
import { Problem } from '../base/problem.ts'

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
