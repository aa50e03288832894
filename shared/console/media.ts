import { z } from 'zod'
import { limits } from '../limits.ts'
import { iceServerSchema } from '../settings/media.ts'
import { connectionStats, keyPicture, streamStats } from '../media/stream-stats.ts'
import { transcodingStatus } from '../media/transcoding.ts'
import { nameBytes } from '../operation.ts'
import { act, change, lasting, read } from './declare.ts'
import { done, moment } from '../domain/outcome.ts'
import { admin, operator, viewer } from './procedure-access.ts'
import { byImplementation, subject } from './procedure-events.ts'
import { roomId, userId } from '../domain/ids.ts'
import { tokenKinds } from '../tokens.ts'

/** Displayed height in device pixels; 0: hidden, so no media is sent. */
const shownHeight = z.int().min(0).max(20_000)

/** Access of the operator to a stream without joining its room: WHEP (draft-ietf-wish-whep). */
const previewView = z.strictObject({
  room_id: z.string(),
  stream_id: z.string(),
  /** URL for the SDP offer (POST); `?size=small` requests the substream. */
  url: z.string(),
  /** Token for `Authorization: Bearer`. A running preview continues after the token expires. */
  token: z.string(),
  expires_at: moment,
  ice_servers: z.array(iceServerSchema),
})
export type PreviewView = z.output<typeof previewView>

const joinLinkView = z.strictObject({
  /** URL for programs, with a signed token in its fragment. For a link without expiry, it equals `short_url`. */
  url: z.string(),
  /** URL for users. */
  short_url: z.string(),
  /** Expiry; 0: the link ends with its room. */
  expires_at: moment,
})

export const mediaProcedures = {
  'media.stats': read({
    summary: 'Traffic of each stream and how people are connected, of one room or of all. Two readings make a rate.',
    input: z.strictObject({ room_id: roomId.optional() }).default({}),
    output: z.strictObject({
      /** Time of the reading. */
      at: moment,
      streams: z.array(streamStats),
      connections: z.array(connectionStats),
    }),
    access: viewer('media:watch'),
  }),
  'media.transcoding': read({
    summary:
      'What the embedded nodes make playable of what browsers cannot play: whether ffmpeg is there, and how much of it is in use. A node that does not answer is left out.',
    input: z.strictObject({}).default({}),
    output: z.array(transcodingStatus.extend({ node: z.string() })),
    access: viewer('nodes:read'),
  }),
  'media.preview_stream': act({
    summary: 'Watch a stream of a room without being in it.',
    input: z.strictObject({ room_id: roomId, stream_id: z.string().min(1).max(256) }),
    output: previewView,
    // This procedure issues a token, so it requires more rights than `media.watch`.
    access: operator('media:watch'),
    // The token gives access to every stream of the room.
    event: {
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: ({ stream_id }) => ({ stream: stream_id }),
      kind: 'meeting.watched',
    },
  }),
  'media.preview_device': act({
    summary: 'Watch a device that is joined.',
    input: z.strictObject({ userId }),
    output: previewView,
    access: operator('media:watch'),
    event: { subjects: byImplementation, facts: ({ userId }) => ({ stream: userId }), kind: 'meeting.watched' },
  }),
  'media.key_picture': read({
    summary:
      'The newest picture of a camera that can be decoded by itself, for a small picture in a list; null where there is none, or thumbnails are off.',
    input: z.strictObject({ userId }),
    output: z.strictObject({ picture: keyPicture.nullable() }),
    access: viewer('media:watch'),
  }),
  'media.watch': act({
    summary:
      'Pass a WHEP offer for a stream on to its node, and bring the answer: for a page that may speak to the controller only.',
    input: z.strictObject({
      room_id: roomId,
      stream_id: z.string().min(1).max(256),
      small: z.boolean().default(false),
      /**
       * Displayed height in device pixels, for which the smallest sufficient stream is sent. Default: the largest
       * stream.
       */
      height: shownHeight.optional(),
      offer: z.string().min(1).max(64_000),
    }),
    output: z.strictObject({
      answer: z.string(),
      session: z.string(),
      /** Whether the node sent an offer: `answer` is then this offer, and `media.answer` takes the browser's answer. */
      offered: z.boolean(),
    }),
    access: viewer('media:watch'),
    event: {
      subjects: byImplementation,
      facts: ({ stream_id }) => ({ stream: stream_id }),
      continues: () => true,
      kind: 'meeting.watched',
    },
  }),
  'media.answer': read({
    summary: 'Bring the answer to what the node of a stream offered.',
    input: z.strictObject({
      room_id: roomId,
      session: z.string().min(1).max(64),
      answer: z.string().min(1).max(64_000),
    }),
    output: done,
    access: viewer('media:watch'),
  }),
  'media.show': read({
    summary: 'Tell how high what media.watch began is shown from now on. `there` is false when it is over.',
    input: z.strictObject({ room_id: roomId, session: z.string().min(1).max(64), height: shownHeight }),
    output: z.strictObject({ there: z.boolean() }),
    access: viewer('media:watch'),
  }),
  'media.unwatch': read({
    summary: 'End what media.watch began.',
    input: z.strictObject({ room_id: roomId, session: z.string().min(1).max(64) }),
    output: done,
    access: viewer('media:watch'),
  }),
  'media.announce_restart': change({
    summary:
      'Tell everybody in the rooms of this controller that it restarts in a while: now, and when they join. It restarts nothing.',
    input: z.strictObject({ in_ms: z.int().min(1_000).max(3_600_000) }),
    output: z.strictObject({ restarts_at: moment }),
    access: admin('site:write'),
    event: {
      outside: 'clients',
      subjects: () => [subject.site],
      facts: ({ in_ms }) => ({ seconds: Math.round(in_ms / 1_000) }),
    },
  }),
  'media.withdraw_restart': change({
    summary: 'Tell everybody in the rooms of this controller that the announced restart was called off.',
    input: z.strictObject({}).default({}),
    output: done,
    access: admin('site:write'),
    event: { outside: 'clients', subjects: () => [subject.site] },
  }),
  'media.join_link': lasting({
    summary: 'A link with which people join a room in a browser; without user_id whoever has it chooses a name.',
    input: z.strictObject({
      room_id: roomId,
      user_id: nameBytes(1, limits.userId).optional(),
      user_name: nameBytes(0, limits.userName).optional(),
      role: z.enum(['member', 'host']).default('member'),
      /**
       * Lifetime in milliseconds; 0: until the room is deleted. A link with user_id is valid for at most 30 days.
       * Default: as in the settings, but at least until the last scheduled meeting ends.
       */
      life_ms: z
        .union([z.literal(0), z.int().min(tokenKinds.join.lifetime.minMs).max(tokenKinds.join.lifetime.maxMs)])
        .optional(),
    }),
    output: joinLinkView,
    // A viewer may invite members.
    access: viewer('links:write'),
    // A host's link, and a link for a specific user, which can replace that user in the room, require an operator.
    needs: ({ role, user_id }) => (role === 'host' || user_id !== undefined ? { role: 'operator' } : {}),
    tokens: true,
    lifetime: ({ room_id, life_ms }, { linkLifeMs }) =>
      life_ms === 0 ? Number.POSITIVE_INFINITY : (life_ms ?? linkLifeMs(room_id)),
    passedOn: true,
    event: { collection: 'capabilities', subjects: ({ room_id }) => [subject.room(room_id)], facts: byImplementation },
  }),
  'media.join_now': lasting({
    summary:
      'A link with which the caller joins a room as host, under the name of their account. It expires after an hour.',
    input: z.strictObject({ room_id: roomId }),
    output: joinLinkView,
    access: operator('links:write'),
    tokens: true,
    // Expires after one hour; see the handler.
    lifetime: () => 0,
    passedOn: true,
    event: { collection: 'capabilities', subjects: ({ room_id }) => [subject.room(room_id)], facts: byImplementation },
  }),
  'media.participant_token': lasting({
    summary:
      'What a client of the Janus API needs to be in a room on a Janus node: where it connects to, the token that it sends with every message, and the one with which it joins.',
    input: z.strictObject({
      room_id: roomId,
      user_id: nameBytes(1, limits.userId),
      user_name: nameBytes(0, limits.userName).optional(),
      role: z.enum(['member', 'host']).default('member'),
      /** Code of preferred nodes, as in get_mcu. */
      idc_code: z.string().max(64).optional(),
      /**
       * Lifetime of both tokens, in milliseconds; default: that of join links in the settings. A user who is in the
       * room at the expiry stays until the connection ends.
       */
      life_ms: z
        .int()
        .min(tokenKinds['janus-room'].lifetime.minMs)
        .max(tokenKinds['janus-room'].lifetime.maxMs)
        .optional(),
    }),
    output: z.strictObject({
      ws_url: z.string(),
      /** Fields of the join request: `room`, `id` and `display`. The room has a secret name on the Janus server. */
      room: z.string(),
      id: z.string(),
      display: z.string(),
      /** `token` for every message to Janus's core. */
      token: z.string(),
      /** `token` for the join request, as a publisher and as a subscriber. */
      room_token: z.string(),
      expires_at: moment,
    }),
    access: operator('links:write'),
    // A Janus server admits the holder of this token without asking the controller, so the token stays valid when the
    // access token that created it ends.
    needs: ({ life_ms }, { settings }) => ({ person: (life_ms ?? 0) > settings.media.link_life_ms }),
    tokens: true,
    lifetime: ({ life_ms }, { settings }) => life_ms ?? settings.media.link_life_ms,
    event: {
      outside: 'nodes',
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: ({ user_id, role }, { expires_at }) => ({ user: user_id, role, expires_at }),
    },
  }),
  'media.revoke_links': change({
    summary: 'Revoke join links of a room: the given link, or all links made until now. People in the room stay.',
    input: z.strictObject({ room_id: roomId, url: z.string().min(1).max(8_192).optional() }),
    output: done,
    access: operator('links:write'),
    event: {
      collection: 'capabilities',
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: ({ url }) => ({ all: url === undefined }),
    },
  }),
}
