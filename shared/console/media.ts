import { z } from 'zod'
import { limits } from '../limits.ts'
import { iceServerSchema } from '../settings/media.ts'
import { connectionStats, keyPicture, streamStats } from '../media/stream-stats.ts'
import { transcodingStatus } from '../media/transcoding.ts'
import { bytes, nameBytes } from '../operation.ts'
import { done, moment, procedure } from './procedure.ts'

const roomId = bytes(1, limits.roomExtendId)
const userId = bytes(1, limits.userId)
/** Height in device pixels; 0: hidden, and nothing is sent. */
const shownHeight = z.int().min(0).max(20_000)

/** Access of the operator to a stream without joining its room: WHEP (draft-ietf-wish-whep). */
const previewView = z.strictObject({
  room_id: z.string(),
  stream_id: z.string(),
  /** URL for the SDP offer (POST); `?size=small` requests the substream. */
  url: z.string(),
  /** Token for `Authorization: Bearer`. A running preview outlives it. */
  token: z.string(),
  expires_at: moment,
  ice_servers: z.array(iceServerSchema),
})
export type PreviewView = z.output<typeof previewView>

const joinLinkView = z.strictObject({
  /** With a signed token in its fragment, for programs; of a link without an end, the short address. */
  url: z.string(),
  /** For people. */
  short_url: z.string(),
  /** 0: it ends with its room. */
  expires_at: moment,
})

/** Procedures about media of embedded nodes. */
export const mediaProcedures = {
  'media.stats': procedure(
    'Traffic of each stream and how people are connected, of one room or of all. Two readings make a rate.',
    z.strictObject({ room_id: roomId.optional() }).default({}),
    z.strictObject({
      /** Time of the reading. */
      at: moment,
      streams: z.array(streamStats),
      connections: z.array(connectionStats),
    }),
  ),
  'media.transcoding': procedure(
    'What the embedded nodes make playable of what browsers cannot play: whether ffmpeg is there, and how much of it is in use. A node that does not answer is left out.',
    z.strictObject({}).default({}),
    z.array(transcodingStatus.extend({ node: z.string() })),
  ),
  'media.preview_stream': procedure(
    'Watch a stream of a room without being in it.',
    z.strictObject({ room_id: roomId, stream_id: z.string().min(1).max(256) }),
    previewView,
  ),
  'media.preview_device': procedure('Watch a device that is joined.', z.strictObject({ userId }), previewView),
  'media.key_picture': procedure(
    'The newest picture of a camera that can be decoded by itself, for a small picture in a list; null where there is none, or thumbnails are off.',
    z.strictObject({ userId }),
    z.strictObject({ picture: keyPicture.nullable() }),
  ),
  'media.watch': procedure(
    'Pass a WHEP offer for a stream on to its node, and bring the answer: for a page that may speak to the controller only.',
    z.strictObject({
      room_id: roomId,
      stream_id: z.string().min(1).max(256),
      small: z.boolean().default(false),
      /** Displayed height, in device pixels: the smallest sufficient stream is sent. Default: the largest. */
      height: shownHeight.optional(),
      offer: z.string().min(1).max(64_000),
    }),
    z.strictObject({
      answer: z.string(),
      session: z.string(),
      /** The node sends the offer itself: `answer` is its offer, and media.answer takes the browser's answer. */
      offered: z.boolean(),
    }),
  ),
  'media.answer': procedure(
    'Bring the answer to what the node of a stream offered.',
    z.strictObject({ room_id: roomId, session: z.string().min(1).max(64), answer: z.string().min(1).max(64_000) }),
    done,
  ),
  'media.show': procedure(
    'Tell how high what media.watch began is shown from now on. `there` is false when it is over.',
    z.strictObject({ room_id: roomId, session: z.string().min(1).max(64), height: shownHeight }),
    z.strictObject({ there: z.boolean() }),
  ),
  'media.unwatch': procedure(
    'End what media.watch began.',
    z.strictObject({ room_id: roomId, session: z.string().min(1).max(64) }),
    done,
  ),
  'media.announce_restart': procedure(
    'Tell everybody in the rooms of this controller that it restarts in a while: now, and when they join. It restarts nothing.',
    z.strictObject({ in_ms: z.int().min(1_000).max(3_600_000) }),
    z.strictObject({ restarts_at: moment }),
  ),
  'media.withdraw_restart': procedure(
    'Tell everybody in the rooms of this controller that the announced restart was called off.',
    z.strictObject({}).default({}),
    done,
  ),
  'media.join_link': procedure(
    'A link with which people join a room in a browser; without user_id whoever has it chooses a name.',
    z.strictObject({
      room_id: roomId,
      user_id: nameBytes(1, limits.userId).optional(),
      user_name: nameBytes(0, limits.userName).optional(),
      role: z.enum(['member', 'host']).default('member'),
      /** 0: as long as the room exists; a link with user_id is valid for 30 days at most. Default: the setting, and until the last meeting of a schedule. */
      life_ms: z
        .union([
          z.literal(0),
          z
            .int()
            .min(60_000)
            .max(30 * 24 * 60 * 60 * 1_000),
        ])
        .optional(),
    }),
    joinLinkView,
  ),
  'media.join_now': procedure(
    'A link with which the caller joins a room as host, under the name of their account. It expires after an hour.',
    z.strictObject({ room_id: roomId }),
    joinLinkView,
  ),
  'media.participant_token': procedure(
    'What a client of the Janus API needs to be in a room on a Janus node: where it connects to, the token that it sends with every message, and the one with which it joins.',
    z.strictObject({
      room_id: roomId,
      user_id: nameBytes(1, limits.userId),
      user_name: nameBytes(0, limits.userName).optional(),
      role: z.enum(['member', 'host']).default('member'),
      /** As in get_mcu: a node with it is preferred. */
      idc_code: z.string().max(64).optional(),
      /** Lifetime of both tokens; default: that of join links in the settings. A user in the room when they expire stays until the connection ends. */
      life_ms: z
        .int()
        .min(10_000)
        .max(30 * 24 * 60 * 60 * 1_000)
        .optional(),
    }),
    z.strictObject({
      ws_url: z.string(),
      /** Fields of the join: `room`, `id` and `display`. The room has a secret name there. */
      room: z.string(),
      id: z.string(),
      display: z.string(),
      /** `token` of every message of Janus's core. */
      token: z.string(),
      /** `token` of the join, as a publisher and as a subscriber. */
      room_token: z.string(),
      expires_at: moment,
    }),
  ),
  'media.revoke_links': procedure(
    'Join links of a room let nobody in any more: the one that is given, or all that were made until now. Who is in the room stays.',
    z.strictObject({ room_id: roomId, url: z.string().min(1).max(8_192).optional() }),
    done,
  ),
}
