import { z } from 'zod'
import { limits } from '../limits.ts'
import { streamSources } from '../media/stream-source.ts'
import { bytes, nameBytes } from '../operation.ts'
import { liveFacts, recordingFacts, recordingPictures, recordingSounds } from '../recording-operations.ts'
import { procedure } from './procedure.ts'

const roomId = bytes(1, limits.roomExtendId)
const userId = bytes(1, limits.userId)
const byId = z.strictObject({ id: bytes(1, 64) })
const labels = {
  name: nameBytes(0, limits.recordingName).default(''),
  tag: nameBytes(0, limits.recordingTag).default(''),
}
const streams = {
  /** own: the user's, or everybody's own of a whole room; room: all of the room as one sound. */
  sound: z.enum(recordingSounds).default('own'),
  picture: z.enum(recordingPictures).default('main'),
}
/** Facts for operators beside those of the API. */
const beside = {
  /** access_key of the client that ordered it; empty: an operator. */
  created_by: z.string(),
  /** Name of the operator, as events hold it. Empty: a client ordered it, or an earlier version that kept no name. */
  ordered_by: z.string(),
  /** Topic of the room; empty: the room is gone. */
  topic: z.string(),
  /** Name of the camera; empty: a person, a whole room, or a camera that is gone. */
  user_name: z.string(),
}
const orderedRecording = recordingFacts.extend(beside)
export type OrderedRecording = z.output<typeof orderedRecording>
const orderedLive = liveFacts.extend(beside)
export type OrderedLive = z.output<typeof orderedLive>
const page = z.strictObject({
  room_id: roomId.optional(),
  user_id: userId.optional(),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(limits.pageSize).default(100),
})

/** Recordings with a beginning, an end and files of their own, and live streams: the same that clients of the API order. */
export const orderProcedures = {
  'orders.recordings': procedure(
    'Ordered recordings with the addresses of their files, the newest first.',
    page,
    z.strictObject({ total: z.int(), items: z.array(orderedRecording) }),
  ),
  'orders.record': procedure(
    'Record a room, a person or a camera into files, from now until it is stopped.',
    z.strictObject({
      room_id: roomId,
      /** Left out: the whole room, each stream in a file of its own. */
      user_id: userId.optional(),
      ...labels,
      ...streams,
      container: z.enum(['mp4', 'webm']).optional(),
    }),
    recordingFacts,
  ),
  'orders.stop_recording': procedure('End an ordered recording: its files are made.', byId, recordingFacts),
  'orders.renew_recording': procedure(
    'Give the files of an ordered recording new addresses, which end with the caller: earlier ones are void.',
    byId,
    recordingFacts,
  ),
  'orders.delete_recording': procedure('Delete an ordered recording and its files.', byId, z.strictObject({})),
  'orders.lives': procedure(
    'Ordered live streams with their addresses, the newest first.',
    page,
    z.strictObject({ total: z.int(), items: z.array(orderedLive) }),
  ),
  'orders.stream': procedure(
    'Stream a person or a camera live, by HLS and, if wished, to an RTMP server.',
    z.strictObject({
      room_id: roomId,
      user_id: userId,
      ...labels,
      ...streams,
      /** `rtmp://` or `rtmps://`; never shown again. */
      publish_url: bytes(0, limits.liveUrl).default(''),
    }),
    liveFacts,
  ),
  'orders.stop_live': procedure('End an ordered live stream.', byId, liveFacts),
  'orders.delete_live': procedure(
    'End and forget an ordered live stream: its addresses are void.',
    byId,
    z.strictObject({}),
  ),
  'orders.live_link': procedure(
    'Addresses with which anybody watches a camera or a person live until they expire.',
    z.strictObject({
      room_id: roomId,
      user_id: userId,
      source: z.enum(streamSources).default('main'),
      /** Lifetime in seconds. */
      ttl: z.int().min(60).max(2_592_000).default(3_600),
    }),
    z.strictObject({ page_url: z.string(), hls_url: z.string(), expires_at: z.number() }),
  ),
}
