import { z } from 'zod'
import { limits } from '../limits.ts'
import { streamSources } from '../media/stream-source.ts'
import { bytes, nameBytes } from '../operation.ts'
import { liveFacts, recordingFacts, recordingPictures, recordingSounds } from '../recording-operations.ts'
import { change, lasting, read } from './declare.ts'
import { operator } from './procedure-access.ts'
import { subject } from './procedure-events.ts'
import { roomId, userId } from '../domain/ids.ts'
import { tokenKinds } from '../tokens.ts'

const { lifetime: linkLife } = tokenKinds['live-link']
const byId = z.strictObject({ id: bytes(1, 64) })
const labels = {
  name: nameBytes(0, limits.recordingName).default(''),
  tag: nameBytes(0, limits.recordingTag).default(''),
}
const streams = {
  /**
   * Sound to record. `own`: the user's sound, or for a room the sound of each user; `room`: the sound of all users,
   * mixed.
   */
  sound: z.enum(recordingSounds).default('own'),
  picture: z.enum(recordingPictures).default('main'),
}
/** Facts shown to operators in addition to those of the API. */
const beside = {
  /** access_key of the client that ordered the recording or stream; empty: an operator ordered it. */
  created_by: z.string(),
  /**
   * Name of the operator who ordered it, as stored in events. Empty: a client ordered it, or an earlier version, which
   * stored no name, created it.
   */
  ordered_by: z.string(),
  /** Topic of the room; empty: the room was deleted. */
  topic: z.string(),
  /** Name of the camera; empty: a person, a whole room, or a deleted camera. */
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

const ofOrder = { subjects: () => [subject.site], facts: ({ id }: { id: string }) => ({ id }) }

/**
 * Procedures for recordings with their own start, end and files, and for live streams. Clients of the API can order the
 * same.
 */
export const orderProcedures = {
  'orders.recordings': read({
    summary: 'Ordered recordings with the addresses of their files, the newest first.',
    input: page,
    output: z.strictObject({ total: z.int(), items: z.array(orderedRecording) }),
    // The result contains addresses that give access to recordings and live streams.
    access: operator('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
  'orders.record': lasting({
    summary: 'Record a room, a person or a camera into files, from now until it is stopped.',
    input: z.strictObject({
      room_id: roomId,
      /** User to record; undefined: the whole room, with each stream in its own file. */
      user_id: userId.optional(),
      ...labels,
      ...streams,
      container: z.enum(['mp4', 'webm']).optional(),
    }),
    output: recordingFacts,
    access: operator('recordings:write'),
    tokens: true,
    // Addresses of the files are valid until the recording is deleted.
    lifetime: () => Number.POSITIVE_INFINITY,
    event: {
      collection: 'recordings',
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: ({ name }) => ({ name }),
    },
  }),
  'orders.stop_recording': change({
    summary: 'End an ordered recording: its files are made.',
    input: byId,
    output: recordingFacts,
    access: operator('recordings:write'),
    event: { collection: 'recordings', ...ofOrder },
  }),
  'orders.renew_recording': lasting({
    summary: 'Give the files of an ordered recording new addresses, which end with the caller: earlier ones are void.',
    input: byId,
    output: recordingFacts,
    access: operator('recordings:write'),
    tokens: true,
    // Addresses of the files are valid until the recording is deleted.
    lifetime: () => Number.POSITIVE_INFINITY,
    event: { collection: 'recordings', ...ofOrder },
  }),
  'orders.delete_recording': change({
    summary: 'Delete an ordered recording and its files.',
    input: byId,
    output: z.strictObject({}),
    access: operator('recordings:write'),
    event: { collection: 'recordings', ...ofOrder },
  }),
  'orders.lives': read({
    summary: 'Ordered live streams with their addresses, the newest first.',
    input: page,
    output: z.strictObject({ total: z.int(), items: z.array(orderedLive) }),
    access: operator('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
  'orders.stream': lasting({
    summary: 'Stream a person or a camera live, by HLS and, if wished, to an RTMP server.',
    input: z.strictObject({
      room_id: roomId,
      user_id: userId,
      ...labels,
      ...streams,
      /** Target of the stream, `rtmp://` or `rtmps://`; empty: none. It is never returned. */
      publish_url: bytes(0, limits.liveUrl).default(''),
    }),
    output: liveFacts,
    access: operator('recordings:write'),
    tokens: true,
    // The stream ends when it is stopped.
    lifetime: () => Number.POSITIVE_INFINITY,
    event: { collection: 'lives', subjects: ({ room_id }) => [subject.room(room_id)], facts: ({ name }) => ({ name }) },
  }),
  'orders.stop_live': change({
    summary: 'End an ordered live stream.',
    input: byId,
    output: liveFacts,
    access: operator('recordings:write'),
    event: { collection: 'lives', ...ofOrder },
  }),
  'orders.delete_live': change({
    summary: 'End and forget an ordered live stream: its addresses are void.',
    input: byId,
    output: z.strictObject({}),
    access: operator('recordings:write'),
    event: { collection: 'lives', ...ofOrder },
  }),
  'orders.live_link': lasting({
    summary: 'Addresses with which anybody watches a camera or a person live until they expire.',
    input: z.strictObject({
      room_id: roomId,
      user_id: userId,
      source: z.enum(streamSources).default('main'),
      /** Lifetime in seconds. */
      ttl: z
        .int()
        .min(linkLife.minMs / 1_000)
        .max(linkLife.maxMs / 1_000)
        .default(linkLife.defaultMs / 1_000),
    }),
    output: z.strictObject({ page_url: z.string(), hls_url: z.string(), expires_at: z.number() }),
    access: operator('recordings:write'),
    tokens: true,
    lifetime: ({ ttl }) => ttl * 1_000,
    // Logged, because anyone who has the link can watch the stream.
    event: {
      collection: 'capabilities',
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: ({ ttl }) => ({ ttl }),
    },
  }),
}
