import type { Context } from 'koa'
import type { IceServer } from '../../../shared/settings/media.ts'
import type { OpenedMediaSession } from './open-session.ts'
import { fragmentType, offerType, ticketHeader } from './sdp-request.ts'

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
