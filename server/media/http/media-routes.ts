import Router, { type RouterContext } from '@koa/router'
import type { Context } from 'koa'
import { nodeRoutes, type NodeRoute } from '../../../shared/authorization/node-routes.ts'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { splitRoute } from '../../../shared/authorization/route.ts'
import { plainAddress } from '../../../shared/client-address.ts'
import type { RoomLook } from '../../../shared/media/control.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Feed } from '../feeds/feed.ts'
import { HeldSecond } from '../feeds/held-second.ts'
import { FeedStream, fixedStreams } from '../feeds/picture-streams.ts'
import type { PictureStreams } from '../feeds/feed.ts'
import { Substream } from '../feeds/substream.ts'
import { Problem } from '../base/problem.ts'
import type { Admission, Caller } from '../rooms/admission.ts'
import type { Member } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import { isPeerToPeer } from '../rooms/room-config.ts'
import { admittedAs, type AdmittedAs } from '../rooms/standing.ts'
import { type OpenStream, streamIdOf } from '../rooms/room-streams.ts'
import { type Offer, parseOffer } from '../webrtc/offer.ts'
import { Publisher } from '../webrtc/publisher.ts'
import { wantedIndex } from '../webrtc/stream-choice.ts'
import { Viewer } from '../webrtc/viewer.ts'
import type { Watched } from '../webrtc/viewer-picture.ts'
import { takeFragment, type MediaSession } from './media-sessions.ts'
import type { MediaRouteParts } from './media-route-parts.ts'
import { ifMatchHolds } from './entity-tag.ts'
import { publishRemote, userFragmentOf, watchRemote } from './remote-sessions.ts'
import { claims, goOn } from './claim-route.ts'
import { bearerOf, fragmentType, offerType, readBody, shownHeight } from './sdp-request.ts'
import { created, createdRemote } from './session-answer.ts'

/** Bytes of a room's number at most, as in every message. */
const maxRoomId = 128

/** Routes of media, each with what it does; `right`: as the table has it. */
type MediaHandlers = {
  readonly [R in MediaRoute]: (context: RouterContext, right: (typeof nodeRoutes)[R]) => Promise<void> | void
}
/** Routes of the node that are about rooms and their media. */
export type MediaRoute = Extract<NodeRoute, `${string}/${'entry' | 'whip' | 'whep' | 'session'}/${string}`>

/** WHIP (RFC 9725) to publish, WHEP (draft-ietf-wish-whep) to watch. */
export function mediaRouter(parts: MediaRouteParts): Router {
  const handlers: MediaHandlers = {
    'GET /entry/:room': async (context) => {
      context.body = await look(parts, context.params.room ?? '', bearerOf(context), context.ip)
    },
    'POST /whip/:room': async (context, right) => await publish(parts, context, right),
    'POST /whep/:room/:stream': async (context, right) => await watch(parts, context, right),
    'DELETE /session/:id': (context) => {
      parts.sessions.end(context.params.id ?? '')
      context.status = 200
    },
    'PATCH /session/:id': async (context) => await patch(parts, context),
  }
  const router = new Router()
  const add = <R extends MediaRoute>(route: R): void => {
    const { method, path } = splitRoute(route)
    router.register(path, [method], async (context) => await handlers[route](context, nodeRoutes[route]))
  }
  for (const route of Object.keys(handlers)) add(route as MediaRoute)
  return router
}

/** Takes the answer to an offer of this side, or a fragment of ICE. @throws Problem noSession, stale; as `readBody` */
async function patch({ sessions }: MediaRouteParts, context: RouterContext): Promise<void> {
  const session = sessions.get(context.params.id ?? '')
  if (!ifMatchHolds(context.get('if-match'), session.etag)) throw new Problem('stale')
  if (session.peer.start !== undefined && context.request.type === offerType) {
    const text = await readBody(context, offerType)
    session.userFragment = userFragmentOf(text)
    await session.peer.start(text)
    context.status = 204
    return
  }
  const answer = await takeFragment(session, await readBody(context, fragmentType))
  context.status = answer === undefined ? 204 : 200
  context.set('ETag', session.etag)
  if (answer === undefined) return
  context.type = fragmentType
  context.body = answer
}

/** What the room page asks before somebody joins, with their link where they have one. @throws Problem notFound, tooMany, busy */
async function look(
  { admission, requests }: MediaRouteParts,
  roomId: string,
  token: string,
  remote: string,
): Promise<RoomLook> {
  if (Buffer.byteLength(roomId) > maxRoomId) throw new Problem('notFound')
  const client = plainAddress(remote)
  const linked = token !== '' && admission.isGoodLink(roomId, { token, path: '/entry', remote })
  if (linked) return await requests.look(roomId, client, true)
  admission.countLook(roomId, remote)
  const seen = await requests.look(roomId, client, false)
  if (seen.by_number) admission.noteRight(roomId, { by: 'number' }, remote)
  return seen
}

async function publish(
  parts: MediaRouteParts,
  context: RouterContext,
  right: readonly ('member' | 'host')[],
): Promise<void> {
  const { settings, peerSettings, sessions } = parts
  const roomId = context.params.room ?? ''
  const source: StreamSource = context.query.source === 'screen' ? 'screen' : 'main'
  if (claims(context)) return await goOn(parts, context, { roomId, what: source, right })
  const { offer, text, admission } = await admittedOffer(parts, context, { path: '/whip', roomId, right })
  const { room } = admission
  if (offer === undefined) throw new Problem('mediaType')
  if (isPeerToPeer(room.config)) throw new Problem('peerToPeer')
  if (room.config.isRemote) {
    const sender = memberOf(admission, false)
    const opened = await inRoom(room, sender, () =>
      publishRemote(parts, room, sender, { source, offer, text, remote: context.ip }),
    )
    return createdRemote(context, opened, settings().ice_servers)
  }
  const release = sessions.reserve(context.ip)
  let member: Member | undefined
  let session: MediaSession | undefined
  let publisher: Publisher | undefined
  try {
    const joined = memberOf(admission, false)
    member = joined
    const { publish_bitrate, screen_bitrate } = settings()
    const made: Publisher = new Publisher(
      offer,
      peerSettings(),
      source === 'screen' ? screen_bitrate : publish_bitrate,
      () => joined.link !== undefined,
      () => {
        release()
        if (session !== undefined) sessions.delete(session.id)
        room.local.unpublish(joined, source, made)
      },
    )
    publisher = made
    room.assertStream(
      made.feed.video !== undefined,
      made.feed.audio !== undefined,
      streamIdOf(joined.user.userId, source),
    )
    room.local.publish(joined, source, made)
    const answer = await made.answer(offer)
    session = sessions.add(made.peer, offer)
    if (made.peer.closed) throw new Problem('noRoom')
    created(context, session, answer, settings().ice_servers)
  } catch (error) {
    publisher?.close()
    release()
    if (session !== undefined) sessions.delete(session.id)
    if (member !== undefined) room.dropIfGone(member)
    throw error
  }
}

async function watch(
  parts: MediaRouteParts,
  context: RouterContext,
  right: readonly ('observer' | 'member' | 'host')[],
): Promise<void> {
  const { settings, peerSettings, sessions } = parts
  const { room: roomId = '', stream: streamId = '' } = context.params
  if (claims(context)) return await goOn(parts, context, { roomId, what: { streamId }, right })
  const { offer, admission } = await admittedOffer(parts, context, { path: '/whep', roomId, right })
  const { room } = admission
  if (room.config.isRemote) {
    const viewer = admission.kind === 'observer' ? undefined : memberOf(admission, true)
    const small = context.query.size === 'small'
    const wish = { streamId, height: shownHeight(context), small, remote: context.ip }
    const opened = await inRoom(room, viewer, () => watchRemote(parts, room, viewer, wish))
    createdRemote(context, opened, settings().ice_servers)
    // The remote node offers: a client that made an offer of its own gets the counter-offer (draft-ietf-wish-whep, section 4.3.2).
    if (offer !== undefined) context.status = 406
    return
  }
  if (offer === undefined) throw new Problem('mediaType')
  const stream = room.streams.get(streamId)
  const release = sessions.reserve(context.ip)
  let member: Member | undefined
  let session: MediaSession | undefined
  let viewer: Viewer | undefined
  let lease: CameraLease | undefined
  let done: (() => void) | undefined
  let held: HeldSecond | undefined
  const height = shownHeight(context)
  try {
    member = admission.kind === 'observer' ? undefined : memberOf(admission, true)
    room.local.assertMayWatch(member, stream)
    const second = substream(parts, room, stream)
    // Where it cannot be had, the large one serves.
    if (second !== undefined && (context.query.size === 'small' || isEnough(second, stream.feed, height))) {
      lease = await second.acquire(undefined, new AbortController().signal, () => held?.lost())
    }
    // They may have been taken out, and the camera or the room be gone, in the meantime.
    room.local.assertMayWatch(member, stream)
    held = height === undefined ? undefined : heldBeside(stream.feed, lease, second)
    const feed = held === undefined ? (lease?.feed ?? stream.feed) : stream.feed
    const watched: Watched = {
      feed,
      streams: held ?? streamsOf(feed, lease === undefined ? second : undefined),
      resized: (size) => member?.send({ type: 'stream_size', stream_id: streamId, size }),
    }
    // What it begins with was prepared with its lease; the large picture is when it is sent.
    const sound = offer.media.some(({ kind, direction }) => kind === 'audio' && direction !== 'inactive')
    if (held === undefined || (sound && feed.playback.conversion?.pictures !== true)) done = feed.prepare(sound)
    const made: Viewer = new Viewer(watched, peerSettings(), () => {
      release()
      done?.()
      if (session !== undefined) sessions.delete(session.id)
      lease?.release()
      room.local.unwatch(member, stream, made)
    })
    viewer = made
    if (height !== undefined) made.shown(height)
    room.local.watch(member, stream, made)
    const answer = await made.answer(offer)
    session = sessions.add(made.peer, offer, (shown) => made.shown(shown))
    if (made.peer.closed) throw new Problem('noStream')
    created(context, session, answer, settings().ice_servers)
  } catch (error) {
    viewer?.close()
    release()
    done?.()
    if (viewer === undefined) lease?.release()
    if (session !== undefined) sessions.delete(session.id)
    if (member !== undefined) room.dropIfGone(member)
    throw error
  }
}

/** Does something for somebody; whoever came in for it alone goes when it fails. */
async function inRoom<T>(room: Room, member: Member | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (member !== undefined) room.dropIfGone(member)
    throw error
  }
}

/** Whether a camera's second stream is enough for a picture that is shown so high. */
function isEnough(second: Substream, main: Feed, height: number | undefined): boolean {
  return height !== undefined && height > 0 && wantedIndex([new FeedStream(main), second], height, undefined) === 1
}

/** The second stream first, and the large one once the picture is shown larger; undefined where one viewer cannot be sent both. */
function heldBeside(main: Feed, lease: CameraLease | undefined, second: Substream | undefined): HeldSecond | undefined {
  if (lease === undefined || second === undefined || lease.feed.video?.codec !== main.video?.codec) return undefined
  return new HeldSecond(main, lease.feed, second)
}

/** Those of somebody's picture, or of a camera's. */
function streamsOf(feed: Feed, second: Substream | undefined): PictureStreams {
  if (feed.layers !== undefined) return feed.layers
  return second === undefined ? fixedStreams(new FeedStream(feed)) : fixedStreams(new FeedStream(feed), second)
}

/** The camera's second stream; undefined when it has none. */
function substream({ pulls }: MediaRouteParts, room: Room, { view }: OpenStream): Substream | undefined {
  const second = room.members.get(view.user_id)?.device?.second
  return second === undefined || !view.small ? undefined : new Substream(pulls, second)
}

/**
 * The offer of somebody who may come in; undefined where they want one of the node, which makes one for remote media only. A stranger's body is not
 * read; and who may come in is asked again once it is there, for a body may take its time.
 * @throws Problem as `admit`, `readBody` and `parseOffer` do
 */
async function admittedOffer<S extends RoomStanding>(
  { admission, requests, turns }: MediaRouteParts,
  context: Context,
  { path, roomId, right }: { path: Caller['path']; roomId: string; right: readonly S[] },
): Promise<{ offer: Offer | undefined; text: string; admission: AdmittedAs<S> }> {
  const remote = context.ip
  const token = bearerOf(context)
  const nobody = { hostPassword: '', userId: undefined, userName: '', browser: undefined, pass: '' }
  const caller: Caller = { ...nobody, token, byNumber: false, remote, path }
  const proof = admission.toBeAsked(roomId, caller)
  if (proof !== undefined) {
    await requests.ask({ roomId, proof, client: plainAddress(remote) })
    admission.noteRight(roomId, proof, remote)
    caller.byNumber = proof.by === 'number'
  }
  const early = admittedAs(admission.admit(roomId, caller), right)
  if (path === '/whep' && early.room.config.isRemote && context.get('content-length') === '0')
    return { offer: undefined, text: '', admission: early }
  const text = await readBody(context, offerType)
  await turns.next()
  const offer = parseOffer(text, plainAddress(remote))
  // The connection is made in it.
  await turns.next()
  return { offer, text, admission: admittedAs(admission.admit(roomId, caller), right) }
}

/**
 * Where a host lets people in, nobody comes past them by this way: but an encoder with a link of its own may send.
 * @throws Problem waiting; as `Room.enter` does
 */
function memberOf(admission: Exclude<Admission, { kind: 'observer' }>, watches: boolean): Member {
  if (admission.kind === 'member') return admission.member
  const { room, identity } = admission
  if (room.mustWait(identity) && (watches || !identity.proven)) throw new Problem('waiting')
  return room.enterForMedia(identity)
}
