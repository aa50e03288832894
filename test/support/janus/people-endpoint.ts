import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { RoomMedia } from '../../../server/nodes/port/room-media.ts'

const never = new AbortController().signal

/** Part of the port that the endpoint calls. */
type PublishAndWatch = Pick<RoomMedia, 'publish' | 'watch' | 'answer' | 'end'>

/** Serves WHIP and WHEP for people on Janus nodes, with simple session names and numbered tokens: `/whip/<room>/<user>`, and `/whep/<room>/<stream>/<user>` (no user: hidden viewer). */
export async function peopleEndpoint(
  people: PublishAndWatch,
): Promise<{ url: string; sessions: string[]; tickets: string[] } & AsyncDisposable> {
  const sessions: string[] = []
  const tickets: string[] = []
  const server = createServer((request, response) => {
    answer(people, { sessions, tickets }, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    sessions,
    tickets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(
  people: PublishAndWatch,
  made: Record<'sessions' | 'tickets', string[]>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://endpoint')
  const [, what = '', room = '', third = '', fourth] = decodeURIComponent(pathname).split('/')
  const body = await text(request)
  const created = (session: string, ticket: string, sdp: string): void => {
    made.sessions.push(session)
    made.tickets.push(ticket)
    response.writeHead(201, { location: `/session/${session}`, 'content-type': 'application/sdp' }).end(sdp)
  }
  if (what === 'whip') {
    const source = searchParams.get('source') === 'screen' ? 'screen' : 'main'
    const { session, ticket, sdp } = await people.publish({ roomId: room, userId: third, source, offer: body }, never)
    return created(session, ticket, sdp)
  }
  if (what === 'whep') {
    const height = searchParams.get('height')
    const shown = height === null ? null : Number(height)
    const small = searchParams.get('size') === 'small'
    const watched = { roomId: room, userId: fourth ?? null, streamId: third, small, height: shown }
    const { session, ticket, sdp } = await people.watch(watched, never)
    return created(session, ticket, sdp)
  }
  if (request.method === 'DELETE') await people.end({ session: room }, never)
  else if (request.headers['content-type'] === 'application/sdp')
    await people.answer({ session: room, answer: body }, never)
  response.writeHead(204).end()
}
