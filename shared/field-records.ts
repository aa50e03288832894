import { z } from 'zod'
import { limits } from './limits.ts'
import { bytes, defineOperation, nameBytes, wholeNumber } from './operation.ts'

/**
 * Record API and live API v1.0.0 (2017), for clients of the original platform. Native programs send JSON; pages send
 * forms and queries.
 */

/** Spellings of the token that clients of the original platform use. */
const token = ['accessToken', 'access_token', 'access_tocken'] as const

/** Schema of a text that some clients send as a number in a JSON body. */
const textOf = <T extends z.ZodType<string, string>>(schema: T) => z.union([schema, z.number().transform(String)])
const id = textOf(bytes(1, 64))
const roomId = textOf(bytes(1, limits.roomExtendId))
const userId = textOf(bytes(1, limits.userId))
const url = bytes(0, limits.liveUrl)

const stream = {
  name: textOf(nameBytes(0, limits.recordingName)).optional(),
  tag: textOf(nameBytes(0, limits.recordingTag)).optional(),
  roomId,
  userId,
  /** Sound: 0 none, 1 of the user, 2 of all users in the room, mixed. */
  audioType: wholeNumber(0, 2).optional(),
  /** Picture: 0 none, 1 main picture, 2 and 3 auxiliary picture (the screen). */
  videoType: wholeNumber(0, 3).optional(),
}
const streamDisclosure = {
  name: 'length',
  tag: 'length',
  roomId: 'room',
  userId: 'user',
  audioType: 'number',
  videoType: 'number',
} as const

const idAndStatus = z.strictObject({ id: z.string(), status: z.number() })
const ended = idAndStatus.extend({
  roomId: z.string(),
  name: z.string(),
  /** Local time of the controller, as `yyyy-mm-dd hh:mm:ss`. */
  createTime: z.string(),
  /** Duration in seconds. */
  duration: z.number(),
})
const described = ended.extend({
  description: z.string(),
  tags: z.string(),
  userId: z.string(),
  audioType: z.number(),
  videoType: z.number(),
})
const record = described.extend({ fileType: z.number(), url: z.string(), size: z.number() })
const liveUrls = { rtmpurl: z.string(), hlsurl: z.string() }
const live = described.extend(liveUrls)
const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({ total: z.number(), begin: z.number(), count: z.number(), items: z.array(item) })

const idAnswer = { id: 'number', status: 'plain' } as const
const endedAnswer = { ...idAnswer, roomId: 'room', name: 'length', createTime: 'length', duration: 'plain' } as const
const describedAnswer = {
  ...endedAnswer,
  description: 'length',
  tags: 'length',
  userId: 'user',
  audioType: 'plain',
  videoType: 'plain',
} as const
// These addresses contain a token, or the key of a stream.
const liveUrlAnswer = { rtmpurl: 'secret', hlsurl: 'secret' } as const
const recordAnswer = { ...describedAnswer, fileType: 'plain', url: 'secret', size: 'plain' } as const
const liveAnswer = { ...describedAnswer, ...liveUrlAnswer } as const
const pageAnswer = <T>(items: T) => ({ total: 'plain', begin: 'plain', count: 'plain', items }) as const

const begins = ['parameter', 'tokenIncorrect', 'roomNotFound', 'userNotOnline', 'recordingUnavailable'] as const
const finds = ['parameter', 'tokenIncorrect', 'recordingNotFound'] as const
const common = { api: 'device', methods: ['GET', 'POST'], token, extension: true, setting: 'older_clients' } as const

const byId = { params: z.object({ id }), disclosure: { id: 'number' }, errors: finds } as const
const bySearch = {
  params: z.object({
    begin: wholeNumber(0, 1_000_000).optional(),
    count: wholeNumber(0, 1_000).optional(),
    /** JSON text `{fromTime, endTime, roomId, userId}`, with dates as `yyyy-mm-dd`. Empty values match all records. */
    filter: z.union([bytes(0, limits.deviceOptions), z.record(z.string(), z.unknown())]).optional(),
  }),
  disclosure: { begin: 'number', count: 'number', filter: { fields: { roomId: 'room', userId: 'user' } } },
  errors: ['parameter', 'tokenIncorrect'],
  safe: true,
} as const

const createUserRecord = defineOperation({
  ...common,
  name: 'create_user_record',
  path: '/avd/api/record/createUserRecord',
  safe: false,
  summary: 'Record a user of a room from now on.',
  /** fileType: 0 MP4, 1 WebM. If the user's codecs are not possible in this container, the other container is used. */
  params: z.object({ ...stream, fileType: wholeNumber(0, 1).optional() }),
  disclosure: { ...streamDisclosure, fileType: 'number' },
  success: z.strictObject({ data: idAndStatus }),
  answer: { data: idAnswer },
  effect: { event: 'recording.ordered', subject: 'recording', lasting: true },
  errors: begins,
})

const stopRecord = defineOperation({
  ...common,
  ...byId,
  name: 'stop_record',
  path: '/avd/api/record/stop',
  safe: true,
  summary: 'End a record: its file is made.',
  success: z.strictObject({ data: ended }),
  answer: { data: endedAnswer },
  effect: { event: 'recording.orderEnded', subject: 'recording', id: 'id' },
})

const getRecord = defineOperation({
  ...common,
  ...byId,
  name: 'get_record',
  path: '/avd/api/record/getRecord',
  safe: true,
  summary: 'One record, with the address of its file.',
  success: z.strictObject({ data: record }),
  answer: { data: recordAnswer },
  effect: 'reads',
})

const findRecords = defineOperation({
  ...common,
  ...bySearch,
  name: 'find_records',
  path: '/avd/api/record/findRecords',
  summary: 'Records, the newest first.',
  success: z.strictObject({ data: pageOf(record) }),
  answer: { data: pageAnswer(recordAnswer) },
  effect: 'reads',
})

const deleteRecord = defineOperation({
  ...common,
  ...byId,
  name: 'delete_record',
  path: '/avd/api/record/delete',
  safe: false,
  summary: 'Delete a record and its file; one that is under way ends.',
  success: z.strictObject({ data: idAndStatus }),
  answer: { data: idAnswer },
  effect: { event: 'recording.orderDeleted', subject: 'recording', id: 'id' },
})

const createUserLive = defineOperation({
  ...common,
  name: 'create_user_live',
  path: '/avd/api/live/createUserLive',
  safe: false,
  summary: 'Stream a user of a room live, by HLS and to an RTMP server.',
  params: z.object({ ...stream, publishurl: url.optional(), rtmpurl: url.optional(), hlsurl: url.optional() }),
  disclosure: { ...streamDisclosure, publishurl: 'secret', rtmpurl: 'secret', hlsurl: 'secret' },
  success: z.strictObject({
    data: idAndStatus.extend({ roomId: z.string(), name: z.string(), createTime: z.string(), ...liveUrls }),
  }),
  answer: { data: { ...idAnswer, roomId: 'room', name: 'length', createTime: 'length', ...liveUrlAnswer } },
  effect: { event: 'live.ordered', subject: 'recording', lasting: true },
  errors: begins,
})

const stopLive = defineOperation({
  ...common,
  ...byId,
  name: 'stop_live',
  path: '/avd/api/live/stop',
  safe: true,
  summary: 'End a live stream.',
  success: z.strictObject({ data: ended.extend(liveUrls) }),
  answer: { data: { ...endedAnswer, ...liveUrlAnswer } },
  effect: { event: 'live.ended', subject: 'recording', id: 'id' },
})

const getLive = defineOperation({
  ...common,
  ...byId,
  name: 'get_live',
  path: '/avd/api/live/getLive',
  safe: true,
  summary: 'One live stream, with its addresses.',
  success: z.strictObject({ data: live }),
  answer: { data: liveAnswer },
  effect: 'reads',
})

const findLives = defineOperation({
  ...common,
  ...bySearch,
  name: 'find_lives',
  path: '/avd/api/live/findLives',
  summary: 'Live streams, the newest first.',
  success: z.strictObject({ data: pageOf(live) }),
  answer: { data: pageAnswer(liveAnswer) },
  effect: 'reads',
})

const deleteLive = defineOperation({
  ...common,
  ...byId,
  name: 'delete_live',
  path: '/avd/api/live/delete',
  safe: false,
  summary: 'End and forget a live stream.',
  success: z.strictObject({ data: idAndStatus }),
  answer: { data: idAnswer },
  effect: { event: 'live.deleted', subject: 'recording', id: 'id' },
})

/** All operations of the record API and the live API. */
export const recordOperations = [
  createUserRecord,
  stopRecord,
  getRecord,
  findRecords,
  deleteRecord,
  createUserLive,
  stopLive,
  getLive,
  findLives,
  deleteLive,
] as const
