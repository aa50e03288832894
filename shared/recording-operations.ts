import { z } from 'zod'
import { limits } from './limits.ts'
import { streamSources } from './media/stream-source.ts'
import { bytes, defineOperation, nameBytes, wholeNumber } from './operation.ts'
import { roomId, userId } from './domain/ids.ts'
import { tokenKinds } from './tokens.ts'

/**
 * Operations of the media API for recordings and live streams of rooms, people and cameras. They are not part of the
 * specification.
 */

const token = ['access_token', 'access_tocken'] as const
const id = bytes(1, 64)
/** Schema of a time in milliseconds since the epoch, as text or a number, up to the end of the year 9999. */
const moment = wholeNumber(0, 253_402_300_799_999)
const { minMs, maxMs } = tokenKinds['live-link'].lifetime
/** Lifetime of a link in seconds; default: an hour. */
const ttl = wholeNumber(minMs / 1_000, maxMs / 1_000).optional()

export const recordingSounds = ['none', 'own', 'room'] as const
export const recordingPictures = ['none', 'main', 'screen'] as const
const recordingStates = ['waiting', 'recording', 'finishing', 'available', 'failed'] as const
const liveStates = ['waiting', 'living', 'stopped', 'failed'] as const

const streams = {
  /**
   * Sound to record. `none`; `own`: the user's sound, or for a room the sound of each user; `room`: the sound of all
   * users, mixed. Default: `own`.
   */
  sound: z.enum(recordingSounds, 'must be none, own or room').optional(),
  /** Picture to record. Default: main. */
  picture: z.enum(recordingPictures, 'must be none, main or screen').optional(),
}
const labels = {
  name: nameBytes(0, limits.recordingName).optional(),
  tag: nameBytes(0, limits.recordingTag).optional(),
}
const labelDisclosure = { name: 'length', tag: 'length', sound: recordingSounds, picture: recordingPictures } as const

const facts = {
  id: z.string(),
  room_id: z.string(),
  /** User who is recorded; empty: the whole room. */
  user_id: z.string(),
  name: z.string(),
  tag: z.string(),
  description: z.string(),
  sound: z.enum(recordingSounds),
  picture: z.enum(recordingPictures),
  /** Reason of a failure; empty: none. */
  reason: z.string(),
  /** Creation time, in milliseconds since the epoch. */
  created_at: z.number(),
  /** End, in milliseconds since the epoch; 0: still running. */
  ended_at: z.number(),
}

/** Recording in responses of the API and the console. */
export const recordingFacts = z.strictObject({
  ...facts,
  state: z.enum(recordingStates),
  files: z.array(
    z.strictObject({
      /** URL of the file. It can be downloaded without a token until the recording is deleted. */
      url: z.string(),
      user_id: z.string(),
      source: z.enum(streamSources),
      container: z.enum(['mp4', 'webm']),
      bytes: z.number(),
      duration_ms: z.number(),
      started_at: z.number(),
    }),
  ),
})
export type RecordingFacts = z.output<typeof recordingFacts>

/** Live stream in responses of the API and the console. */
export const liveFacts = z.strictObject({
  ...facts,
  state: z.enum(liveStates),
  /** Page that plays the stream. */
  page_url: z.string(),
  hls_url: z.string(),
  /** URL as specified by the caller. */
  rtmp_url: z.string(),
})
export type LiveFacts = z.output<typeof liveFacts>

const factsAnswer = {
  id: 'number',
  room_id: 'room',
  user_id: 'user',
  name: 'length',
  tag: 'length',
  description: 'length',
  sound: recordingSounds,
  picture: recordingPictures,
  reason: 'message',
  created_at: 'plain',
  ended_at: 'plain',
} as const
const recordingAnswer = {
  ...factsAnswer,
  state: recordingStates,
  files: {
    url: 'secret',
    user_id: 'user',
    source: streamSources,
    container: ['mp4', 'webm'],
    bytes: 'plain',
    duration_ms: 'plain',
    started_at: 'plain',
  },
} as const
// An RTMP address may contain the key of the stream.
const liveAnswer = {
  ...factsAnswer,
  state: liveStates,
  page_url: 'secret',
  hls_url: 'secret',
  rtmp_url: 'secret',
} as const

const common = { api: 'media', methods: ['GET'], token, extension: true } as const
const byId = { params: z.object({ id }), disclosure: { id: 'number' } } as const
const finds = ['parameter', 'tokenIncorrect', 'recordingNotFound', 'storage'] as const
const begins = [
  'parameter',
  'tokenIncorrect',
  'roomNotFound',
  'roomClosed',
  'userNotOnline',
  'recordingUnavailable',
  'storage',
] as const
const search = {
  params: z.object({
    room_id: roomId.optional(),
    user_id: userId.optional(),
    /** Start of the span in which the recordings or streams must have started, in milliseconds since the epoch. */
    from: moment.optional(),
    to: moment.optional(),
    begin: wholeNumber(0, 1_000_000).optional(),
    count: wholeNumber(1, 1_000).optional(),
  }),
  disclosure: {
    room_id: 'roomFilter',
    user_id: 'user',
    from: 'length',
    to: 'length',
    begin: 'number',
    count: 'number',
  },
  errors: ['parameter', 'tokenIncorrect'],
  safe: true,
} as const

const startRecording = defineOperation({
  ...common,
  name: 'recording_start',
  path: '/rtc/recording/start',
  safe: false,
  summary: 'Record a room, a person or a camera from now on.',
  params: z.object({
    room_id: roomId,
    /** User to record; undefined: the whole room, with each stream in its own file. */
    user_id: userId.optional(),
    ...labels,
    ...streams,
    /** Requested container; undefined: chosen by the codecs. */
    container: z.enum(['mp4', 'webm'], 'must be mp4 or webm').optional(),
  }),
  disclosure: { room_id: 'room', user_id: 'user', ...labelDisclosure, container: ['mp4', 'webm'] },
  success: recordingFacts,
  answer: recordingAnswer,
  effect: { event: 'recording.ordered', subject: 'recording', lasting: true },
  errors: begins,
})

const stopRecording = defineOperation({
  ...common,
  ...byId,
  name: 'recording_stop',
  path: '/rtc/recording/stop',
  safe: true,
  summary: 'End a recording: its files are made.',
  success: recordingFacts,
  answer: recordingAnswer,
  effect: { event: 'recording.orderEnded', subject: 'recording', id: 'id' },
  errors: finds,
})

const getRecording = defineOperation({
  ...common,
  ...byId,
  name: 'recording_get',
  path: '/rtc/recording/get',
  safe: true,
  summary: 'One recording, with the addresses of its files.',
  success: recordingFacts,
  answer: recordingAnswer,
  effect: 'reads',
  errors: finds,
})

const listRecordings = defineOperation({
  ...common,
  ...search,
  name: 'recording_list',
  path: '/rtc/recording/list',
  summary: 'Recordings, the newest first.',
  success: z.strictObject({ total: z.number(), items: z.array(recordingFacts) }),
  answer: { total: 'plain', items: recordingAnswer },
  effect: 'reads',
})

const deleteRecording = defineOperation({
  ...common,
  ...byId,
  name: 'recording_delete',
  path: '/rtc/recording/delete',
  safe: false,
  summary: 'Delete a recording and its files; one that is under way ends.',
  success: z.strictObject({ id: z.string() }),
  answer: { id: 'number' },
  effect: { event: 'recording.orderDeleted', subject: 'recording', id: 'id' },
  errors: finds,
})

const recordingLink = defineOperation({
  ...common,
  name: 'recording_link',
  path: '/rtc/recording/link',
  safe: true,
  summary: 'Address of an HLS playlist of what was recorded of a camera or a person in a span, which expires.',
  params: z.object({
    room_id: roomId,
    user_id: userId,
    source: z.enum(streamSources, 'must be main or screen').optional(),
    /** Start of the span, in milliseconds since the epoch. The span is at most six hours. */
    from: moment,
    to: moment,
    ttl,
  }),
  disclosure: {
    room_id: 'room',
    user_id: 'user',
    source: streamSources,
    from: 'length',
    to: 'length',
    ttl: 'number',
  },
  success: z.strictObject({
    hls_url: z.string(),
    /** Expiry, in milliseconds since the epoch. */
    expires_at: z.number(),
  }),
  answer: { hls_url: 'secret', expires_at: 'plain' },
  effect: { event: 'link.made', subject: 'room', lasting: true },
  errors: ['parameter', 'tokenIncorrect', 'recordingNotFound'],
})

const startLive = defineOperation({
  ...common,
  name: 'live_start',
  path: '/rtc/live/start',
  safe: false,
  summary: 'Stream a person or a camera live, by HLS and, if wished, to an RTMP server.',
  params: z.object({
    room_id: roomId,
    user_id: userId,
    ...labels,
    ...streams,
    /** Target of the stream, `rtmp://` or `rtmps://`. It is never returned. */
    publish_url: bytes(1, limits.liveUrl).optional(),
    rtmp_url: bytes(1, limits.liveUrl).optional(),
  }),
  disclosure: { room_id: 'room', user_id: 'user', ...labelDisclosure, publish_url: 'secret', rtmp_url: 'secret' },
  success: liveFacts,
  answer: liveAnswer,
  effect: { event: 'live.ordered', subject: 'recording', lasting: true },
  errors: begins,
})

const stopLiveStream = defineOperation({
  ...common,
  ...byId,
  name: 'live_stop',
  path: '/rtc/live/stop',
  safe: true,
  summary: 'End a live stream.',
  success: liveFacts,
  answer: liveAnswer,
  effect: { event: 'live.ended', subject: 'recording', id: 'id' },
  errors: finds,
})

const getLiveStream = defineOperation({
  ...common,
  ...byId,
  name: 'live_get',
  path: '/rtc/live/get',
  safe: true,
  summary: 'One live stream, with its addresses.',
  success: liveFacts,
  answer: liveAnswer,
  effect: 'reads',
  errors: finds,
})

const listLiveStreams = defineOperation({
  ...common,
  ...search,
  name: 'live_list',
  path: '/rtc/live/list',
  summary: 'Live streams, the newest first.',
  success: z.strictObject({ total: z.number(), items: z.array(liveFacts) }),
  answer: { total: 'plain', items: liveAnswer },
  effect: 'reads',
})

const deleteLiveStream = defineOperation({
  ...common,
  ...byId,
  name: 'live_delete',
  path: '/rtc/live/delete',
  safe: false,
  summary: 'End and forget a live stream: its addresses are void.',
  success: z.strictObject({ id: z.string() }),
  answer: { id: 'number' },
  effect: { event: 'live.deleted', subject: 'recording', id: 'id' },
  errors: finds,
})

const liveLink = defineOperation({
  ...common,
  name: 'live_link',
  path: '/rtc/live/link',
  safe: true,
  summary: 'Addresses to watch a camera or a person live, which expire. The stream runs while somebody watches.',
  params: z.object({
    room_id: roomId,
    user_id: userId,
    source: z.enum(streamSources, 'must be main or screen').optional(),
    ttl,
  }),
  disclosure: { room_id: 'room', user_id: 'user', source: streamSources, ttl: 'number' },
  success: z.strictObject({
    /** Page that plays the stream. Other sites may embed it if the settings allow this. */
    page_url: z.string(),
    hls_url: z.string(),
    /** Expiry, in milliseconds since the epoch. */
    expires_at: z.number(),
  }),
  answer: { page_url: 'secret', hls_url: 'secret', expires_at: 'plain' },
  effect: { event: 'link.made', subject: 'room', lasting: true },
  errors: begins,
})

export const recordingOperations = [
  startRecording,
  stopRecording,
  getRecording,
  listRecordings,
  deleteRecording,
  recordingLink,
  startLive,
  stopLiveStream,
  getLiveStream,
  listLiveStreams,
  deleteLiveStream,
  liveLink,
] as const
