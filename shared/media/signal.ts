import { z } from 'zod'
import { named } from '../operation.ts'
import { reactions } from './reactions.ts'
import { maxTicket } from './remote-media.ts'
import { iceServerSchema } from '../settings/media.ts'
import { streamSources } from './stream-source.ts'

/**
 * Room signaling: `ws://<addr>/signal`, one JSON message per frame. The first message of a client is `join` or
 * `resume`; the node responds with `joined`, `waiting` or `refused`.
 * The node sends pings. A lost connection may be resumed within `resume_ms`.
 */

export { signalVersion } from './signal-version.ts'
export { screenSuffix, type StreamSource } from './stream-source.ts'

/** Maximum length of a message in bytes. */
export const maxSignal = 64 * 1024

const userId = z.string().min(1).max(128)

/** Maximum number of streams in one message; more than a user may watch. */
const maxShown = 256
/** Maximum height of a picture in pixels, sufficient for walls of several screens. */
const highest = 16_384

const personSchema = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  role: z.enum(['host', 'member']),
  /** Whether the user is a camera added by the operator. */
  device: z.boolean(),
  joined_at: z.number(),
  /** Whether the user's microphone is on; `video`: whether the camera is on. */
  audio: z.boolean(),
  video: z.boolean(),
  /** Whether the connection was lost recently. */
  away: z.boolean(),
  /** Position of the raised hand: hands with lower values were raised earlier. 0: not raised. */
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
  /** Codec of the picture; empty: no picture. `audio_codec`: the same for the sound. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /** Whether the sound contains audio levels (RFC 6464), so that `speaking` can contain the stream's user. */
  tells_level: z.boolean(),
  /** Whether the stream has a substream: `?size=small`. */
  small: z.boolean(),
  /** Whether the picture is transcoded while it is watched, which delays the first picture. */
  converted: z.boolean(),
})
export type RoomStream = z.output<typeof streamSchema>

/**
 * Version of a stream's picture that a viewer receives: the full picture, the substream of the same camera, or only
 * occasional keyframes.
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

/** Messages from the client to the node. */
export const fromPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('join'),
    version: z.int(),
    room_id: z.string().min(1).max(128),
    /** Token of a join link. */
    token: z.string().max(4_096).default(''),
    /** Host password, used instead of a link. It makes the user a host. */
    host_password: z.string().max(64).default(''),
    /**
     * Secret stored in the browser. For a user without a personal link, it identifies the same user each time in this
     * room.
     */
    browser: z.string().min(16).max(64).optional(),
    /**
     * `pass` of an earlier `joined` in this room. With it, a returning user may rejoin a locked room, and need not wait
     * for admission.
     */
    pass: z.string().max(256).optional(),
    /**
     * User id for which the pass was issued, if neither the link nor the browser identifies the user. Without a pass,
     * the node ignores this field and generates an id.
     */
    user_id: named(userId).optional(),
    user_name: named(z.string().trim().max(256)).default(''),
    /**
     * Ticket of media that this page already sends or watches in a room with remote media (`Session-Ticket` of WHIP and
     * WHEP). This media continues.
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
   * the previous one. The height of a stream that is not listed is unknown.
   */
  z.strictObject({
    type: z.literal('shown'),
    streams: z
      .array(z.strictObject({ stream_id: z.string().min(1).max(160), height: z.int().min(0).max(highest) }))
      .max(maxShown),
  }),
  /** From a host: mutes a user, who can unmute. */
  z.strictObject({ type: z.literal('mute'), user_id: userId, kind: z.enum(['audio', 'video']) }),
  /** From a host: removes a user. */
  z.strictObject({ type: z.literal('remove'), user_id: userId }),
  /** Raises or lowers the hand of the sender. */
  z.strictObject({ type: z.literal('hand'), raised: z.boolean() }),
  /** Briefly shows a reaction to all people. */
  z.strictObject({ type: z.literal('react'), reaction: z.enum(reactions) }),
  /** From a host: lowers a user's hand; without an id, all hands. */
  z.strictObject({ type: z.literal('lower_hand'), user_id: userId.optional() }),
  /** From a host: mutes every member. Each member can unmute. */
  z.strictObject({ type: z.literal('mute_all') }),
  /** From a host: locks or unlocks the room for new users. `room_changed` follows. */
  z.strictObject({ type: z.literal('lock'), locked: z.boolean() }),
  /** From a host: starts or stops recording the room. `recording` follows. */
  z.strictObject({ type: z.literal('record'), on: z.boolean() }),
  /** From a host: removes all people. The room remains, and can be joined again at once. */
  z.strictObject({ type: z.literal('end_meeting') }),
  /** From a host: requests a link that admits its holders as members. `invitation` follows. */
  z.strictObject({ type: z.literal('invite') }),
  /** From a host: admits a waiting guest; without an id, all waiting guests. */
  z.strictObject({ type: z.literal('let_in'), user_id: userId.optional() }),
  /** From a host: refuses a waiting guest. */
  z.strictObject({ type: z.literal('turn_away'), user_id: userId }),
  /** In peer-to-peer rooms: sends an offer, an answer or a candidate to another user. */
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

/** End of a scheduled meeting, in milliseconds from now. `closes_in_ms`: latest time at which the room closes. */
const scheduledEnd = z.strictObject({ ends_in_ms: z.number(), closes_in_ms: z.number() })
export interface ScheduledEnd {
  end?: z.output<typeof scheduledEnd>
}

/** Announced restart of the node, in milliseconds from now; undefined: none. */
const restartNotice = { restarts_in_ms: z.number().optional() }

/** Messages from the node to the client. */
export const toPersonSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('joined'),
    version: z.int(),
    /** Whether the same user has resumed a session. */
    resumed: z.boolean(),
    /** Session key: for `resume`, and as bearer token of WHIP and WHEP. */
    session: z.string(),
    resume_ms: z.number(),
    you: personSchema,
    /** Value for `pass` of a later `join`. */
    pass: z.string(),
    room: z.strictObject({
      room_id: z.string(),
      topic: z.string(),
      mode: z.number(),
      peer_to_peer: z.boolean(),
      locked: z.boolean(),
      /** Whether people are being recorded; undefined: no. */
      recording: z.boolean().optional(),
      /** Whether hosts may start and stop recording the room; undefined: no. */
      may_record: z.boolean().optional(),
      /** Whether recordings are announced only in writing; undefined: also by voice. */
      recording_silent: z.boolean().optional(),
      end: scheduledEnd.optional(),
      ...restartNotice,
    }),
    people: z.array(personSchema),
    /** Cameras of the room that were lost and are expected to return. */
    lost_cameras: z.array(personSchema),
    streams: z.array(streamSchema),
    chat: z.array(chatSchema),
    /** Maximum number of tiles on the page. */
    most_tiles: z.int(),
    /** User ids of current speakers, the latest first. `spoke`: recent speakers. */
    speaking: z.array(z.string()),
    spoke: z.array(z.string()),
    /**
     * Addresses of the site's other nodes, and of the node ports of its other controllers, e.g. `http://10.0.0.5:7084`.
     * If this node is unreachable, each of them can return the address of the room's node.
     */
    other_nodes: z.array(z.string()),
    ice_servers: z.array(iceServerSchema),
  }),
  /** Rejects the client. The connection is closed after this message. `code`: 507, 800, 801 or an HTTP status. */
  z.strictObject({
    type: z.literal('refused'),
    code: z.number(),
    reason: z.string(),
    message: z.string(),
    /** With the reason `elsewhere`: URL of the node on which the same `join` succeeds, e.g. `http://10.0.0.5:7084`. */
    url: z.string().optional(),
    /**
     * With the reason `notOpenYet`: time until the room opens, in milliseconds. `starts_at`: start of the meeting, in
     * milliseconds since the epoch.
     */
    opening: z.strictObject({ opens_in_ms: z.number(), starts_at: z.number() }).optional(),
  }),
  z.strictObject({ type: z.literal('pong'), id: z.int() }),
  z.strictObject({ type: z.literal('person_joined'), person: personSchema }),
  z.strictObject({ type: z.literal('person_changed'), person: personSchema }),
  /**
   * `lost`: a camera lost its connection, and is expected to return. A message without `lost` means that it is no
   * longer expected.
   */
  z.strictObject({ type: z.literal('person_left'), user_id: z.string(), lost: z.literal(true).optional() }),
  /**
   * Sent instead of `joined` if a host or the operator must admit this user. Sent again when the first host joins or
   * the last host leaves. `joined` or `refused` follows.
   */
  z.strictObject({ type: z.literal('waiting'), topic: z.string(), host_here: z.boolean() }),
  /** Text from the operator to a waiting guest. */
  z.strictObject({ type: z.literal('waiting_message'), from: z.string(), text: z.string(), at: z.number() }),
  /** Sent after `waiting` if there are other nodes, and after changes. See `other_nodes` of `joined`. */
  z.strictObject({ type: z.literal('nodes'), other_nodes: z.array(z.string()) }),
  /** To hosts: all waiting guests, in order of arrival. */
  z.strictObject({ type: z.literal('waiting_list'), people: z.array(waitingPersonSchema) }),
  /** Join link that admits its holders; sent to the host who requested it. */
  z.strictObject({ type: z.literal('invitation'), url: z.string() }),
  /** A host lowered this user's hand. */
  z.strictObject({ type: z.literal('hand_lowered'), by: z.string() }),
  z.strictObject({ type: z.literal('stream_added'), stream: streamSchema }),
  z.strictObject({ type: z.literal('stream_removed'), stream_id: z.string() }),
  /**
   * Version of a stream's picture that this user receives from now on. It is reduced while the user's connection is too
   * slow. The sound is always sent completely.
   */
  z.strictObject({ type: z.literal('stream_size'), stream_id: z.string(), size: z.enum(streamSizes) }),
  /**
   * User ids of current and recent speakers, the latest first. Only streams with audio levels (RFC 6464) are
   * considered.
   */
  z.strictObject({ type: z.literal('speaking'), user_ids: z.array(z.string()) }),
  z.strictObject({ type: z.literal('chat'), line: chatSchema }),
  /** Reactions since the previous message of this type; at most one per user. */
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
  /** A restart of the node was announced; without a time: the announced restart was canceled. */
  z.strictObject({ type: z.literal('restart'), ...restartNotice }),
  /** Recording of people in the room has started or stopped. */
  z.strictObject({ type: z.literal('recording'), on: z.boolean() }),
  z.strictObject({ type: z.literal('relay'), from: z.string(), payload: z.unknown() }),
  /** A request of the client was rejected. The connection stays open. */
  z.strictObject({ type: z.literal('error'), reason: z.string(), message: z.string() }),
  /**
   * The user was removed. The connection is closed after this message. `restarting`: the node is ending, or the room is
   * moved to another node; the same `join` succeeds shortly on one of them. `ended`: the host ended the meeting for all
   * people; the room can be joined again.
   */
  z.strictObject({
    type: z.literal('removed'),
    reason: z.enum(['kicked', 'replaced', 'closed', 'restarting', 'ended']),
    /**
     * With `restarting`, in a room with remote media: whether the media has probably ended, too. undefined: it
     * continues.
     */
    media_over: z.literal(true).optional(),
  }),
])
export type ToPerson = z.output<typeof toPersonSchema>
