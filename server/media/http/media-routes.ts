import Router, { type RouterContext } from '@koa/router'
import type { Context } from 'koa'
import { type NodeRoute, nodeRoutes } from '../../../shared/authorization/node-routes.ts'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { splitRoute } from '../../../shared/authorization/route.ts'
import { plainAddress } from '../../../shared/client-address.ts'
import type { RoomLook } from '../../../shared/media/controller-methods.ts'
import type { EntryLook } from '../../../shared/media/entry-look.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { maxTicket } from '../../../shared/media/remote-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import type { OfferQueue } from '../base/event-loop.ts'
import { openingIn, Problem } from '../base/problem.ts'
import {
  type Admission,
  type AdmissionCaller,
  type AdmissionControl,
  admittedAs,
  type AdmittedAs,
} from '../rooms/admission.ts'
import type { MediaRooms } from '../rooms/media-rooms.ts'
import type { RoomMember } from '../rooms/member.ts'
import { isPeerToPeer } from '../rooms/room-config.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'
import { streamIdOf } from '../rooms/room-streams.ts'
import type { Room } from '../rooms/room.ts'
import { type Offer, parseOffer } from '../webrtc/offer.ts'
import { type MediaSessions, takeFragment } from './media-sessions.ts'
import { userFragmentOf } from './remote-room-media.ts'
import {
  bearerOf,
  created,
  fragmentType,
  ifMatchHolds,
  offerType,
  readSdp,
  shownHeight,
  ticketHeader,
} from './whip-messages.ts'
import { open, type WhipWhepMedia } from './whip-whep-media.ts'

export interface MediaRouteDependencies {
  rooms: Pick<MediaRooms, 'bySession'>
  admission: AdmissionControl
  requests: RoomRequests
  /** Returns the media of a room, on this server or on another node. */
  mediaOf: (room: Room) => WhipWhepMedia
  /** Queue for offers, which come in bursts and take some milliseconds each. */
  offers: OfferQueue
  sessions: MediaSessions
  settings: () => MediaSettings
}

/** Maximum length of a room number in bytes, as in every message. */
const maxRoomId = 128

/** Handlers of the media routes; `right`: the value in the route table. */
type MediaHandlers = {
  readonly [R in MediaRoute]: (context: RouterContext, right: (typeof nodeRoutes)[R]) => Promise<void> | void
}
/** Routes of the node for rooms and their media. */
export type MediaRoute = Extract<NodeRoute, `${string}/${'entry' | 'whip' | 'whep' | 'session'}/${string}`>

/** Creates the routes of WHIP (RFC 9725) to publish and WHEP (draft-ietf-wish-whep) to watch. */
export function mediaRouter(dependencies: MediaRouteDependencies): Router {
  const handlers: MediaHandlers = {
    'GET /entry/:room': async (context) => {
      context.body = await look(dependencies, context.params.room ?? '', bearerOf(context), context.ip)
    },
    'POST /whip/:room': async (context, right) => await publish(dependencies, context, right),
    'POST /whep/:room/:stream': async (context, right) => await watch(dependencies, context, right),
    'DELETE /session/:id': (context) => {
      dependencies.sessions.end(context.params.id ?? '')
      context.status = 200
    },
    'PATCH /session/:id': async (context) => await patch(dependencies, context),
  }
  const router = new Router()
  const add = <R extends MediaRoute>(route: R): void => {
    const { method, path } = splitRoute(route)
    router.register(path, [method], async (context) => await handlers[route](context, nodeRoutes[route]))
  }
  for (const route of Object.keys(handlers)) add(route as MediaRoute)
  return router
}

/**
 * Accepts the answer to an offer of the node, or an ICE fragment.
 * @throws Problem noSession, stale; the errors of `readSdp` and `takeFragment`
 */
async function patch({ sessions }: MediaRouteDependencies, context: RouterContext): Promise<void> {
  const session = sessions.get(context.params.id ?? '')
  if (!ifMatchHolds(context.get('if-match'), session.etag)) throw new Problem('stale')
  if (session.peer.start !== undefined && context.request.type === offerType) {
    const text = await readSdp(context, offerType)
    session.userFragment = userFragmentOf(text)
    await session.peer.start(text)
    context.status = 204
    return
  }
  const answer = await takeFragment(session, await readSdp(context, fragmentType))
  context.status = answer === undefined ? 204 : 200
  context.set('ETag', session.etag)
  if (answer === undefined) return
  context.type = fragmentType
  context.body = answer
}

/**
 * Returns the room's state for a room page that has not joined yet.
 * @param token join link of the page; empty: the page has only the room number
 * @throws Problem notFound, tooMany, busy
 */
async function look(
  { admission, requests }: MediaRouteDependencies,
  roomId: string,
  token: string,
  remote: string,
): Promise<EntryLook> {
  if (Buffer.byteLength(roomId) > maxRoomId) throw new Problem('notFound')
  const client = plainAddress(remote)
  const link = token === '' ? undefined : admission.judgeLink(roomId, { token, path: '/entry', remote })
  if (typeof link === 'object') return entryLook(await requests.look({ roomId, client, role: link.role }))
  admission.countLook(roomId, remote)
  const seen = await requests.look({ roomId, client })
  if (seen.by_number) admission.noteRight(roomId, { by: 'number' }, remote)
  return { ...entryLook(seen), ...(link === undefined ? {} : { refusal: link }) }
}

function entryLook({ opening, refusal, ...look }: RoomLook): EntryLook {
  return {
    ...look,
    ...(opening === undefined ? {} : { opening: openingIn(opening) }),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

async function publish(
  dependencies: MediaRouteDependencies,
  context: RouterContext,
  right: readonly ('member' | 'host')[],
): Promise<void> {
  const roomId = context.params.room ?? ''
  const source: StreamSource = context.query.source === 'screen' ? 'screen' : 'main'
  if (resumes(context)) return await resume(dependencies, context, { roomId, what: source, right })
  const { offer, text, admission } = await admittedOffer(dependencies, context, { path: '/whip', roomId, right })
  const { room } = admission
  if (offer === undefined) throw new Problem('mediaType')
  if (isPeerToPeer(room.config)) throw new Problem('peerToPeer')
  const opened = await open(dependencies, context.ip, async (media) => {
    const member = memberOf(admission, false)
    media.onClose(() => room.attendance.dropIfGone(member))
    return await dependencies
      .mediaOf(room)
      .publish(media, { room, member }, { source, offer, text, remote: context.ip })
  })
  created(context, opened, dependencies.settings().ice_servers)
}

async function watch(
  dependencies: MediaRouteDependencies,
  context: RouterContext,
  right: readonly ('observer' | 'member' | 'host')[],
): Promise<void> {
  const { room: roomId = '', stream: streamId = '' } = context.params
  if (resumes(context)) return await resume(dependencies, context, { roomId, what: { streamId }, right })
  const { offer, admission } = await admittedOffer(dependencies, context, { path: '/whep', roomId, right })
  const { room } = admission
  const height = shownHeight(context)
  const input = { streamId, offer, height, small: context.query.size === 'small', remote: context.ip }
  const roomMedia = dependencies.mediaOf(room)
  roomMedia.assertWatchable(room, input)
  const opened = await open(dependencies, context.ip, async (media) => {
    const member = admission.kind === 'observer' ? undefined : memberOf(admission, true)
    if (member !== undefined) media.onClose(() => room.attendance.dropIfGone(member))
    return await roomMedia.watch(media, { room, member }, input)
  })
  created(context, opened, dependencies.settings().ice_servers)
  // The node makes the offer, so a client that sent an offer receives a counter-offer (draft-ietf-wish-whep, section
  // 4.3.2).
  if (opened.offers === true && offer !== undefined) context.status = 406
}

/**
 * Reads the offer of an admitted client. The body is read only after admission. Admission is checked again afterwards,
 * because reading a body may take long.
 * @returns `offer` undefined: the client requests an offer from the node, which is possible for remote media only
 * @throws the errors of `admit`, `readSdp` and `parseOffer`
 */
async function admittedOffer<S extends RoomStanding>(
  dependencies: MediaRouteDependencies,
  context: Context,
  { path, roomId, right }: { path: AdmissionCaller['path']; roomId: string; right: readonly S[] },
): Promise<{ offer: Offer | undefined; text: string; admission: AdmittedAs<S> }> {
  const { admission, requests, offers } = dependencies
  const remote = context.ip
  const token = bearerOf(context)
  const nobody = { hostPassword: '', userId: undefined, userName: '', browser: undefined, pass: '' }
  const caller: AdmissionCaller = { ...nobody, token, byNumber: false, remote, path }
  const proof = admission.toBeAsked(roomId, caller)
  if (proof !== undefined) {
    await requests.enter({ roomId, proof, client: plainAddress(remote) })
    admission.noteRight(roomId, proof, remote)
    caller.byNumber = proof.by === 'number'
  }
  const early = admittedAs(admission.admit(roomId, caller), right)
  if (path === '/whep' && dependencies.mediaOf(early.room).isRemote && context.get('content-length') === '0')
    return { offer: undefined, text: '', admission: early }
  const text = await readSdp(context, offerType)
  await offers.next()
  const offer = parseOffer(text, plainAddress(remote))
  // The caller creates the connection in this event loop turn.
  await offers.next()
  return { offer, text, admission: admittedAs(admission.admit(roomId, caller), right) }
}

/**
 * Returns the member that sends or watches; a newcomer enters the room. The waiting room can be bypassed only by an
 * encoder that sends with a personal link.
 * @throws Problem waiting; the errors of `Attendance.enter`
 */
function memberOf(admission: Exclude<Admission, { kind: 'observer' }>, watches: boolean): RoomMember {
  if (admission.kind === 'member') return admission.member
  const { room, identity } = admission
  if (room.waiting.mustWait(identity) && (watches || !identity.proven)) throw new Problem('waiting')
  return room.attendance.enterForMedia(identity)
}

/** Whether a request resumes a session instead of creating one. */
function resumes(context: Context): boolean {
  return context.get(ticketHeader) !== ''
}

/**
 * Resumes a session that a member began on another process. The page sends the session's ticket and a new session
 * description.
 * @throws Problem unauthorised if the user is not in the room; noSession if the session cannot be resumed; badRequest;
 *   the errors of `readSdp`
 */
async function resume(
  dependencies: MediaRouteDependencies,
  context: Context,
  {
    roomId,
    what,
    right,
  }: { roomId: string; what: StreamSource | { streamId: string }; right: readonly RoomStanding[] },
): Promise<void> {
  const place = dependencies.rooms.bySession(bearerOf(context))
  if (place?.room.config.roomId !== roomId || !right.includes(place.member.standing)) throw new Problem('unauthorised')
  const { room, member } = place
  const media = dependencies.mediaOf(room)
  if (!media.isRemote) throw new Problem('noSession')
  const ticket = context.get(ticketHeader)
  if (ticket.length > maxTicket) throw new Problem('badRequest')
  const sends = typeof what === 'string'
  const streamId = sends ? streamIdOf(member.user.userId, what) : what.streamId
  const height = sends ? undefined : shownHeight(context)
  const sdp = await readSdp(context, offerType)
  const input = { streamId, sends, height, ticket, sdp, remote: context.ip }
  const resumed = await open(
    dependencies,
    context.ip,
    async (held) => await media.resume(held, { room, member }, input),
  )
  created(context, resumed, dependencies.settings().ice_servers)
}
