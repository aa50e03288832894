import type { Context } from 'koa'
import type { IceServer } from '../../../shared/media/media-settings.ts'
import type { OpenedSession } from './remote-sessions.ts'
import type { MediaSession } from './media-sessions.ts'
import { fragmentType, offerType, ticketHeader } from './sdp-request.ts'

/** Answers with a session of remote media, and the ticket with which another program can resume it. */
export function createdRemote(
  context: Context,
  { session, sdp, ticket }: OpenedSession,
  ice: readonly IceServer[],
): void {
  created(context, session, sdp, ice)
  if (ticket !== '') context.set(ticketHeader, ticket)
}

/** A session was made (RFC 9725, section 4.2). @param answer empty where there is nothing to answer */
export function created(
  context: Context,
  { id, etag }: MediaSession,
  answer: string,
  iceServers: readonly IceServer[],
): void {
  context.status = 201
  context.type = offerType
  context.set('Location', `/session/${id}`)
  context.set('ETag', etag)
  context.set('Accept-Patch', fragmentType)
  const links = iceServers.flatMap(iceLinks)
  if (links.length > 0) context.set('Link', links)
  context.body = answer
}

/** Link fields that name ICE servers (RFC 9725, section 4.6). */
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
