import { z } from 'zod'
import { hasUnsafeCharacter } from '../control-character.ts'
import { unsafeNameError } from '../operation.ts'
import { maxTicket } from './remote-media.ts'
import { iceServerSchema } from './media-settings.ts'
import { streamSources } from './stream-source.ts'

/**
 * Room signalling: `ws://<addr>/signal`, one JSON message per frame. The first message of a client is `join` or `resume`; the node answers `joined` or `refused`.
 * The node pings; a connection that is lost may be resumed within `resume_ms`.
 */

export { signalVersion } from './signal-version.ts'
export { screenSuffix, type StreamSource } from './stream-source.ts'

/** Longest message in bytes. */
export const maxSignal = 64 * 1024

const userId = z.string().min(1).max(128)
const isSafe = (text: string): boolean => !hasUnsafeCharacter(text)

/** Streams that one message tells of at most: more than one person may watch. */
const maxShown = 256
/** Largest height of a picture, in pixels: of a wall of screens, too. */
const highest = 16_384

/** Somebody in the room. */
const personSchema = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  role: z.enum(['host', 'member']),
  /** A camera that the operator put into the room. */
  device: z.boolean(),
  joined_at: z.number(),
  /** The microphone and camera are on, as the person says. */
  audio: z.boolean(),
  video: z.boolean(),
  /** The connection was lost a moment ago. */
  away: z.boolean(),
  /** They raised their hand: the lower, the earlier. 0: they did not. */
  hand: z.int(),
})
export type Person = z.output<typeof personSchema>

/** Somebody whom a host has to let in. */
const waitingPersonSchema = z.strictObject({ user_id: z.string(), user_name: z.string(), since: z.number() })
export type WaitingPerson = z.output<typeof waitingPersonSchema>

/** A stream that can be watched: `POST /whep/<room>/<stream id>`. */
const streamSchema = z.strictObject({
  stream_id: z.string(),
  user_id: z.string(),
  source: z.enum(streamSources),
  /** Empty for none. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /** Its sound tells how loud it is (RFC 6464): `speaking` names its user. */
  tells_level: z.boolean(),
  /** A smaller picture can be asked for: `?size=small`. */
  small: z.boolean(),
  /** Its picture is made playable while somebody watches: the first one takes a moment. */
  converted: z.boolean(),
})
export type RoomStream = z.output<typeof streamSchema>

/** Parts of a stream's picture that somebody receives: everything, a smaller one of the same camera, or only key frames now and then. */
const streamSizes = ['full', 'small', 'key_frames'] as const
export type StreamSize = (typeof streamSizes)[number]

/** A line of the room's chat. */
const chatSchema = z.strictObject({
  id: z.int(),
  user_id: z.string(),
  user_name: z.string(),
  text: z.string(),
  at: z.number(),
})
export type ChatLine = z.output<typeof chatSchema>

/** Client to node. */
export const fromPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('join'),
    version: z.int(),
    room_id: z.string().min(1).max(128),
    /** Token of a join link. */
    token: z.string().max(4_096).default(''),
    /** Instead of a link; makes the person host. */
    host_password: z.string().max(64).default(''),
    /** Secret of the browser, kept there: where no link names the user, it is the same one in this room each time. */
    browser: z.string().min(16).max(64).optional(),
    /** Session of an earlier `joined` in this room: a returning person comes back into a locked room, and waits for no host. */
    pass: z.string().max(256).optional(),
    /** Id that the pass was given for, where neither the link nor the browser says who this is. Without such a pass the node makes an id, whatever is asked for. */
    user_id: userId.refine(isSafe, { error: unsafeNameError }).optional(),
    user_name: z.string().trim().max(256).refine(isSafe, { error: unsafeNameError }).default(''),
    /** Ticket of media that this page sends or watches already in a room on another server (`Session-Ticket` of WHIP and WHEP): it goes on there. */
    ticket: z.string().max(maxTicket).optional(),
  }),
  z.strictObject({ type: z.literal('resume'), version: z.int(), session: z.string().max(256) }),
  z.strictObject({ type: z.literal('leave') }),
  z.strictObject({ type: z.literal('ping'), id: z.int() }),
  z.strictObject({ type: z.literal('chat'), text: z.string().trim().min(1).max(4_000) }),
  z.strictObject({ type: z.literal('state'), audio: z.boolean(), video: z.boolean() }),
  /**
   * How high each stream's picture is shown, in device pixels; 0: it is not seen, and nothing of it is sent, while its sound goes on. Each message takes the
   * place of the one before; a stream that it does not name is sent as if nothing were known.
   */
  z.strictObject({
    type: z.literal('shown'),
    streams: z
      .array(z.strictObject({ stream_id: z.string().min(1).max(160), height: z.int().min(0).max(highest) }))
      .max(maxShown),
  }),
  /** Host: silence somebody, who may speak up again. */
  z.strictObject({ type: z.literal('mute'), user_id: userId, kind: z.enum(['audio', 'video']) }),
  /** Host: take somebody out. */
  z.strictObject({ type: z.literal('remove'), user_id: userId }),
  /** Raise one's hand, or lower it. */
  z.strictObject({ type: z.literal('hand'), raised: z.boolean() }),
  /** Host: lower somebody's hand; without a name, everybody's. */
  z.strictObject({ type: z.literal('lower_hand'), user_id: userId.optional() }),
  /** Host: silence everybody who is no host; each may speak up again. */
  z.strictObject({ type: z.literal('mute_all') }),
  /** Host: nobody new may join, or they may again. `room_changed` follows. */
  z.strictObject({ type: z.literal('lock'), locked: z.boolean() }),
  /** Host: everybody is taken out; the room stays, and can be joined again at once. */
  z.strictObject({ type: z.literal('end_meeting') }),
  /** Host: let in somebody who waits; without a name, everybody. */
  z.strictObject({ type: z.literal('let_in'), user_id: userId.optional() }),
  /** Host: not to let in somebody who waits. */
  z.strictObject({ type: z.literal('turn_away'), user_id: userId }),
  /** Peer-to-peer rooms: an offer, answer or candidate for somebody. */
  z.strictObject({
    type: z.literal('relay'),
    to: userId,
    payload: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(['offer', 'answer']), sdp: z.string().max(60_000) }),
      z.strictObject({ kind: z.literal('candidate'), candidate: z.string().max(1_000), mid: z.string().max(64) }),
      z.strictObject({ kind: z.literal('bye') }),
    ]),
  }),
])
export type FromPerson = z.output<typeof fromPersonSchema>
export type RelayPayload = Extract<FromPerson, { type: 'relay' }>['payload']

/** Node to client. */
export const toPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('joined'),
    version: z.int(),
    /** The same person came back. */
    resumed: z.boolean(),
    /** For `resume`, and as Bearer for WHIP and WHEP. */
    session: z.string(),
    resume_ms: z.number(),
    you: personSchema,
    /** For a later `join`: see there. */
    pass: z.string(),
    room: z.strictObject({
      room_id: z.string(),
      topic: z.string(),
      mode: z.number(),
      peer_to_peer: z.boolean(),
      locked: z.boolean(),
    }),
    people: z.array(personSchema),
    /** Cameras that were in the room and are to come back. */
    lost_cameras: z.array(personSchema),
    streams: z.array(streamSchema),
    chat: z.array(chatSchema),
    /** Tiles that a page shows at once, at most. */
    most_tiles: z.int(),
    /** Speakers now and lately, the latest first. */
    speaking: z.array(z.string()),
    spoke: z.array(z.string()),
    /** Other nodes of the site, and node ports of its other controllers, e.g. `http://10.0.0.5:7084`: while this one is away each of them knows where the room is. */
    other_nodes: z.array(z.string()),
    ice_servers: z.array(iceServerSchema),
  }),
  /** The connection closes after it. `code`: 507, 800, 801 or the HTTP status. */
  z.strictObject({
    type: z.literal('refused'),
    code: z.number(),
    reason: z.string(),
    message: z.string(),
    /** With the reason `elsewhere`: the node at which the same `join` succeeds, e.g. `http://10.0.0.5:7084`. */
    url: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('pong'), id: z.int() }),
  z.strictObject({ type: z.literal('person_joined'), person: personSchema }),
  z.strictObject({ type: z.literal('person_changed'), person: personSchema }),
  /** `lost`: a camera whose connection was lost, and which is to come back; another message without it says that it is not. */
  z.strictObject({ type: z.literal('person_left'), user_id: z.string(), lost: z.literal(true).optional() }),
  /** Instead of `joined`: a host has to let this person in. `joined` or `refused` follows. */
  z.strictObject({ type: z.literal('waiting'), topic: z.string() }),
  /** After `waiting` where there are any, and when they are others than were told last: see `other_nodes` of `joined`. */
  z.strictObject({ type: z.literal('nodes'), other_nodes: z.array(z.string()) }),
  /** To hosts: everybody who waits, those who came first before the others. */
  z.strictObject({ type: z.literal('waiting_list'), people: z.array(waitingPersonSchema) }),
  /** A host lowered this person's hand. */
  z.strictObject({ type: z.literal('hand_lowered'), by: z.string() }),
  z.strictObject({ type: z.literal('stream_added'), stream: streamSchema }),
  z.strictObject({ type: z.literal('stream_removed'), stream_id: z.string() }),
  /** Parts of a stream that this person receives from now on: less than everything while their link is too slow. Its sound is always whole. */
  z.strictObject({ type: z.literal('stream_size'), stream_id: z.string(), size: z.enum(streamSizes) }),
  /** Speakers from now on, the latest first: of those whose sound tells how loud it is (RFC 6464). */
  z.strictObject({ type: z.literal('speaking'), user_ids: z.array(z.string()) }),
  z.strictObject({ type: z.literal('chat'), line: chatSchema }),
  z.strictObject({ type: z.literal('muted'), by: z.string(), kind: z.enum(['audio', 'video']) }),
  z.strictObject({ type: z.literal('room_changed'), topic: z.string(), locked: z.boolean() }),
  z.strictObject({ type: z.literal('relay'), from: z.string(), payload: z.unknown() }),
  /** Something the client asked for is not allowed; the connection stays. */
  z.strictObject({ type: z.literal('error'), reason: z.string(), message: z.string() }),
  /**
   * The connection closes after it. `restarting`: nobody wanted that; the node ends, or the room goes to another one, and the same `join` lets one in again in a
   * moment, here or there. `ended`: the host ended the meeting for everybody; the room can be joined again.
   */
  z.strictObject({
    type: z.literal('removed'),
    reason: z.enum(['kicked', 'replaced', 'closed', 'restarting', 'ended']),
    /** With `restarting`, in a room on another server: sound and pictures are over there as well, as far as is known. */
    media_over: z.literal(true).optional(),
  }),
])
export type ToPerson = z.output<typeof toPersonSchema>
