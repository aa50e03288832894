import { z } from 'zod'
import { named } from '../operation.ts'
import { reactions } from './reactions.ts'
import { maxTicket } from './remote-media.ts'
import { iceServerSchema } from '../settings/media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Room signalling: `ws://<addr>/signal`, one JSON message per frame. The first message of a client is `join` or
 * `resume`; the node answers `joined` or `refused`.
 * The node sends pings; a lost connection may be resumed within `resume_ms`.
 */

export { signalVersion } from './signal-version.ts'
export { screenSuffix, type StreamSource } from './stream-source.ts'

/** Maximum length of a message in bytes. */
export const maxSignal = 64 * 1024

const userId = z.string().min(1).max(128)

/** Maximum number of streams in one message: more than one user may watch. */
const maxShown = 256
/** Maximum height of a picture, in pixels: enough for walls of several screens. */
const highest = 16_384

const personSchema = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  role: z.enum(['host', 'member']),
  /** Whether it is a camera added by the operator. */
  device: z.boolean(),
  joined_at: z.number(),
  /** State of the user's microphone and camera. */
  audio: z.boolean(),
  video: z.boolean(),
  /** Whether the connection was lost recently. */
  away: z.boolean(),
  /** Order of the raised hand: lower means earlier. 0: not raised. */
  hand: z.int(),
})
export type Person = z.output<typeof personSchema>

/** Guest who waits for admission by a host. */
export const waitingPersonSchema = z.strictObject({ user_id: z.string(), user_name: z.string(), since: z.number() })
export type WaitingPerson = z.output<typeof waitingPersonSchema>

/** Stream that can be watched: `POST /whep/<room>/<stream id>`. */
const streamSchema = z.strictObject({
  stream_id: z.string(),
  user_id: z.string(),
  source: z.enum(streamSources),
  /** Empty: none. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /** Whether its sound contains audio levels (RFC 6464): then `speaking` can contain its user. */
  tells_level: z.boolean(),
  /** Whether it has a substream: `?size=small`. */
  small: z.boolean(),
  /** Whether its picture is transcoded while it is watched, so that the first picture is delayed. */
  converted: z.boolean(),
})
export type RoomStream = z.output<typeof streamSchema>

/**
 * Parts of a stream's picture that a viewer receives: everything, the same camera's substream, or only occasional key
 * frames.
 */
const streamSizes = ['full', 'small', 'key_frames'] as const
export type StreamSize = (typeof streamSizes)[number]

const chatSchema = z.strictObject({
  id: z.int(),
  user_id: z.string(),
  user_name: z.string(),
  text: z.string(),
  at: z.number(),
})
export type ChatLine = z.output<typeof chatSchema>

/** Messages from client to node. */
export const fromPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('join'),
    version: z.int(),
    room_id: z.string().min(1).max(128),
    /** Token of a join link. */
    token: z.string().max(4_096).default(''),
    /** Instead of a link; makes the user a host. */
    host_password: z.string().max(64).default(''),
    /** Secret stored in the browser. Without a personal link, it identifies the same user in this room each time. */
    browser: z.string().min(16).max(64).optional(),
    /**
     * Session of an earlier `joined` in this room: a returning user may rejoin a locked room, and need not wait for a
     * host.
     */
    pass: z.string().max(256).optional(),
    /**
     * Id for which the pass was issued, if neither the link nor the browser identifies the user. Without a pass the
     * node ignores this field and generates an id.
     */
    user_id: named(userId).optional(),
    user_name: named(z.string().trim().max(256)).default(''),
    /**
     * Ticket of media that this page already sends or watches in a room on another server (`Session-Ticket` of WHIP and
     * WHEP), which then continues.
     */
    ticket: z.string().max(maxTicket).optional(),
  }),
  z.strictObject({ type: z.literal('resume'), version: z.int(), session: z.string().max(256) }),
  z.strictObject({ type: z.literal('leave') }),
  z.strictObject({ type: z.literal('ping'), id: z.int() }),
  z.strictObject({ type: z.literal('chat'), text: z.string().trim().min(1).max(4_000) }),
  z.strictObject({ type: z.literal('state'), audio: z.boolean(), video: z.boolean() }),
  /**
   * Displayed height of each stream, in device pixels; 0: hidden, so that only its sound is sent. Each message replaces
   * the previous one; for a stream that is not listed, the height counts as unknown.
   */
  z.strictObject({
    type: z.literal('shown'),
    streams: z
      .array(z.strictObject({ stream_id: z.string().min(1).max(160), height: z.int().min(0).max(highest) }))
      .max(maxShown),
  }),
  /** Host: mutes a user, who can unmute. */
  z.strictObject({ type: z.literal('mute'), user_id: userId, kind: z.enum(['audio', 'video']) }),
  /** Host: removes a user. */
  z.strictObject({ type: z.literal('remove'), user_id: userId }),
  /** Raises or lowers the user's hand. */
  z.strictObject({ type: z.literal('hand'), raised: z.boolean() }),
  /** Shows a reaction to all people briefly. */
  z.strictObject({ type: z.literal('react'), reaction: z.enum(reactions) }),
  /** Host: lowers a user's hand; without an id, all hands. */
  z.strictObject({ type: z.literal('lower_hand'), user_id: userId.optional() }),
  /** Host: mutes every member; each can unmute. */
  z.strictObject({ type: z.literal('mute_all') }),
  /** Host: locks or unlocks the room for new users. `room_changed` follows. */
  z.strictObject({ type: z.literal('lock'), locked: z.boolean() }),
  /** Host: starts or stops recording the room. `recording` follows. */
  z.strictObject({ type: z.literal('record'), on: z.boolean() }),
  /** Host: removes all people; the room stays, and can be joined again at once. */
  z.strictObject({ type: z.literal('end_meeting') }),
  /** Host: requests a link that admits anybody as a member. `invitation` follows. */
  z.strictObject({ type: z.literal('invite') }),
  /** Host: admits a waiting guest; without an id, all. */
  z.strictObject({ type: z.literal('let_in'), user_id: userId.optional() }),
  /** Host: refuses a waiting guest. */
  z.strictObject({ type: z.literal('turn_away'), user_id: userId }),
  /** In peer-to-peer rooms: an offer, answer or candidate for another user. */
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

/** End of a scheduled meeting, and latest time at which the room closes, in milliseconds from now; undefined: never. */
const scheduledEnd = z.strictObject({ ends_in_ms: z.number(), closes_in_ms: z.number() })
export interface ScheduledEnd {
  end?: z.output<typeof scheduledEnd>
}

/** Announced restart of the node, in milliseconds from now; undefined: none. */
const restartNotice = { restarts_in_ms: z.number().optional() }

/** Messages from node to client. */
export const toPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('joined'),
    version: z.int(),
    /** Whether the same user resumed. */
    resumed: z.boolean(),
    /** Key for `resume`, and bearer token of WHIP and WHEP. */
    session: z.string(),
    resume_ms: z.number(),
    you: personSchema,
    /** Pass for a later `join`: see `pass` there. */
    pass: z.string(),
    room: z.strictObject({
      room_id: z.string(),
      topic: z.string(),
      mode: z.number(),
      peer_to_peer: z.boolean(),
      locked: z.boolean(),
      /** Whether people are being recorded; undefined: no. */
      recording: z.boolean().optional(),
      /** Whether hosts may start and stop its recording; undefined: no. */
      may_record: z.boolean().optional(),
      /** Whether recordings are not announced by voice; undefined: they are. */
      recording_silent: z.boolean().optional(),
      end: scheduledEnd.optional(),
      ...restartNotice,
    }),
    people: z.array(personSchema),
    /** Lost cameras of the room that are expected back. */
    lost_cameras: z.array(personSchema),
    streams: z.array(streamSchema),
    chat: z.array(chatSchema),
    /** Maximum number of tiles on the page. */
    most_tiles: z.int(),
    /** Current and recent speakers, the latest first. */
    speaking: z.array(z.string()),
    spoke: z.array(z.string()),
    /**
     * Addresses of the site's other nodes, and node ports of its other controllers, e.g. `http://10.0.0.5:7084`. While
     * this node is unreachable, each of them can return the room's node.
     */
    other_nodes: z.array(z.string()),
    ice_servers: z.array(iceServerSchema),
  }),
  /** The connection is closed after this message. `code`: 507, 800, 801 or the HTTP status. */
  z.strictObject({
    type: z.literal('refused'),
    code: z.number(),
    reason: z.string(),
    message: z.string(),
    /** With the reason `elsewhere`: the node at which the same `join` succeeds, e.g. `http://10.0.0.5:7084`. */
    url: z.string().optional(),
    /**
     * With the reason `notOpenYet`: time until the room opens, in milliseconds from now, and start of its meeting, in
     * milliseconds since the epoch.
     */
    opening: z.strictObject({ opens_in_ms: z.number(), starts_at: z.number() }).optional(),
  }),
  z.strictObject({ type: z.literal('pong'), id: z.int() }),
  z.strictObject({ type: z.literal('person_joined'), person: personSchema }),
  z.strictObject({ type: z.literal('person_changed'), person: personSchema }),
  /** `lost`: a camera that lost its connection, and is expected back; a message without `lost` ends this. */
  z.strictObject({ type: z.literal('person_left'), user_id: z.string(), lost: z.literal(true).optional() }),
  /**
   * Instead of `joined`: a host or the operator has to admit this user. Sent again when the first host joins or the
   * last one leaves. `joined` or `refused` follows.
   */
  z.strictObject({ type: z.literal('waiting'), topic: z.string(), host_here: z.boolean() }),
  /** Text from the operator to a waiting guest. */
  z.strictObject({ type: z.literal('waiting_message'), from: z.string(), text: z.string(), at: z.number() }),
  /** After `waiting` if there are other nodes, and after changes: see `other_nodes` of `joined`. */
  z.strictObject({ type: z.literal('nodes'), other_nodes: z.array(z.string()) }),
  /** Sent to hosts: all waiting guests, in order of arrival. */
  z.strictObject({ type: z.literal('waiting_list'), people: z.array(waitingPersonSchema) }),
  /** Join link for anybody; sent to the host who requested it. */
  z.strictObject({ type: z.literal('invitation'), url: z.string() }),
  /** A host lowered this user's hand. */
  z.strictObject({ type: z.literal('hand_lowered'), by: z.string() }),
  z.strictObject({ type: z.literal('stream_added'), stream: streamSchema }),
  z.strictObject({ type: z.literal('stream_removed'), stream_id: z.string() }),
  /**
   * Parts of a stream that this user receives from now on: reduced while their connection is too slow. The sound is
   * always complete.
   */
  z.strictObject({ type: z.literal('stream_size'), stream_id: z.string(), size: z.enum(streamSizes) }),
  /** Current and recent speakers, the latest first, among users with audio levels (RFC 6464). */
  z.strictObject({ type: z.literal('speaking'), user_ids: z.array(z.string()) }),
  z.strictObject({ type: z.literal('chat'), line: chatSchema }),
  /** Reactions since the previous message of this type, at most one per user. */
  z.strictObject({
    type: z.literal('reactions'),
    list: z.array(z.strictObject({ user_id: z.string(), reaction: z.enum(reactions) })),
  }),
  z.strictObject({ type: z.literal('muted'), by: z.string(), kind: z.enum(['audio', 'video']) }),
  z.strictObject({
    type: z.literal('room_changed'),
    topic: z.string(),
    locked: z.boolean(),
    end: scheduledEnd.optional(),
  }),
  /** A restart of the node was announced, or (without a time) cancelled. */
  z.strictObject({ type: z.literal('restart'), ...restartNotice }),
  /** Recording of people in the room has started or stopped. */
  z.strictObject({ type: z.literal('recording'), on: z.boolean() }),
  z.strictObject({ type: z.literal('relay'), from: z.string(), payload: z.unknown() }),
  /** A request of the client is not permitted; the connection stays open. */
  z.strictObject({ type: z.literal('error'), reason: z.string(), message: z.string() }),
  /**
   * The connection is closed after this message. `restarting`: the node ends, or the room is moved to another one, and
   * the same `join` succeeds shortly, here or there. `ended`: the host ended the meeting for all people; the room can
   * be joined again.
   */
  z.strictObject({
    type: z.literal('removed'),
    reason: z.enum(['kicked', 'replaced', 'closed', 'restarting', 'ended']),
    /** With `restarting`, in a room on another server: as far as known, the media on that server has ended, too. */
    media_over: z.literal(true).optional(),
  }),
])
export type ToPerson = z.output<typeof toPersonSchema>
