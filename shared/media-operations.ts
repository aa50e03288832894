import { z } from 'zod'
import { limits } from './limits.ts'
import { recordingOperations } from './recording-operations.ts'
import { bytes, defineOperation, nameBytes, wholeNumber } from './operation.ts'
import { roomId, userId } from './domain/ids.ts'
import { tokenKinds } from './tokens.ts'

/** The media room API (specification, section 4.1): parameters, responses and errors of each operation. */

/** Names of the token parameter; the second is a misspelling that existing clients use. */
const accessToken = ['access_token', 'access_tocken'] as const

const topic = nameBytes(1, limits.topic)
const hostPassword = bytes(0, limits.hostPassword)
const maxStreams = wholeNumber(0, limits.maxStreams)
const { lifetime: linkLife } = tokenKinds.join
const attendeeMax = wholeNumber(1, limits.maxAttendees)
/** Room mode. 1: MCU free, 2: MCU host, 3: P2P free, 4: P2P host. */
const roomMode = wholeNumber(1, 4).transform((mode) => mode as 1 | 2 | 3 | 4)

export const authenticate = defineOperation({
  api: 'media',
  name: 'authenticate',
  path: '/rtc/auth/valid',
  methods: ['GET'],
  safe: true,
  summary: 'Authenticate a client with its key pair; opens a session.',
  // Every value is accepted here, because a missing or invalid key must result in 401 instead of a parameter error
  // (contract, section 2).
  params: z.object({ access_key: z.string().default(''), digest: z.string().default('') }),
  disclosure: { access_key: 'credential', digest: 'secret' },
  token: null,
  success: z.strictObject({ random: z.string(), key: z.string() }),
  answer: { random: 'secret', key: 'secret' },
  effect: 'signsIn',
  errors: ['authenticationFailed', 'tooManyFailures', 'authenticationTimeout', 'parameter'],
})

export const createRoom = defineOperation({
  api: 'media',
  name: 'create_room',
  path: '/rtc/room/create',
  methods: ['GET'],
  safe: false,
  summary: 'Create a room.',
  params: z.object({
    topic,
    owner_id: nameBytes(1, limits.ownerId),
    room_mode: roomMode,
    host_password: hostPassword.optional(),
    max_video: maxStreams.optional(),
    max_audio: maxStreams.optional(),
    attendee_max: attendeeMax.optional(),
    room_extend_id: nameBytes(1, limits.roomExtendId).optional(),
  }),
  disclosure: {
    topic: 'length',
    owner_id: 'user',
    room_mode: 'number',
    host_password: 'secret',
    max_video: 'number',
    max_audio: 'number',
    attendee_max: 'number',
    room_extend_id: 'room',
  },
  token: accessToken,
  success: z.strictObject({ room_id: z.string() }),
  answer: { room_id: 'room' },
  effect: { event: 'room.created', subject: 'room' },
  errors: ['parameter', 'tokenIncorrect', 'noP2pPermission', 'licenceExpired', 'licenceExceeded', 'storage'],
  zeroIsNotGiven: ['attendee_max', 'max_audio', 'max_video'],
})

export const getRoom = defineOperation({
  api: 'media',
  name: 'get_room',
  path: '/rtc/room/get',
  methods: ['GET'],
  safe: true,
  summary: 'Read a room.',
  params: z.object({ room_id: roomId }),
  disclosure: { room_id: 'room' },
  token: accessToken,
  success: z.strictObject({
    id: z.number(),
    room_id: z.string(),
    topic: z.string(),
    /** Status: 0 scheduled, 1 open, 2 locked, 3 closed. */
    room_status: z.number(),
    owner_id: z.string(),
    host_password: z.string(),
    attendee_max: z.number(),
    max_audio: z.number(),
    max_video: z.number(),
    room_extend_id: z.string(),
    room_mode: z.number(),
  }),
  answer: {
    id: 'plain',
    room_id: 'room',
    topic: 'length',
    room_status: 'plain',
    owner_id: 'length',
    host_password: 'secret',
    attendee_max: 'plain',
    max_audio: 'plain',
    max_video: 'plain',
    room_extend_id: 'room',
    room_mode: 'plain',
  },
  effect: 'reads',
  errors: ['parameter', 'tokenIncorrect', 'roomNotFound'],
})

export const getRoomByExtendId = defineOperation({
  api: 'media',
  name: 'get_room_by_extend_id',
  path: '/rtc/room/get_by_room_extend_id',
  methods: ['GET'],
  safe: true,
  summary: 'Read a room by the identifier that its creator chose.',
  params: z.object({ room_extend_id: roomId }),
  disclosure: { room_extend_id: 'room' },
  token: accessToken,
  success: getRoom.success,
  answer: getRoom.answer,
  effect: 'reads',
  errors: getRoom.errors,
  extension: true,
})

const updateRoom = defineOperation({
  api: 'media',
  name: 'update_room',
  path: '/rtc/room/update',
  methods: ['GET'],
  safe: false,
  summary: 'Change a room.',
  params: z.object({
    room_id: roomId,
    topic: topic.optional(),
    host_password: hostPassword.optional(),
    max_video: maxStreams.optional(),
    max_audio: maxStreams.optional(),
    attendee_max: attendeeMax.optional(),
    room_mode: roomMode.optional(),
  }),
  disclosure: {
    room_id: 'room',
    topic: 'length',
    host_password: 'secret',
    max_video: 'number',
    max_audio: 'number',
    attendee_max: 'number',
    room_mode: 'number',
  },
  token: accessToken,
  success: z.strictObject({ room_id: z.string() }),
  answer: { room_id: 'room' },
  effect: { event: 'room.changed', subject: 'room' },
  errors: ['parameter', 'tokenIncorrect', 'noP2pPermission', 'roomNotFound', 'roomClosed', 'storage'],
  extension: true,
})

export const deleteRoom = defineOperation({
  api: 'media',
  name: 'delete_room',
  path: '/rtc/room/del',
  methods: ['GET'],
  safe: false,
  summary: 'Delete a room; everybody in it is removed.',
  params: z.object({ room_id: roomId }),
  disclosure: { room_id: 'room' },
  token: accessToken,
  success: z.strictObject({ room_id: z.string() }),
  answer: { room_id: 'room' },
  effect: { event: 'room.deleted', subject: 'room' },
  errors: ['parameter', 'tokenIncorrect', 'roomNotFound', 'storage'],
})

export const getMcu = defineOperation({
  api: 'media',
  name: 'get_mcu',
  path: '/sdk/get_mcu',
  methods: ['GET'],
  safe: true,
  summary: 'The address of the MCU that serves a room.',
  params: z.object({
    room_id: roomId,
    /** JSON text `{"ip_tag":"local","idc_code":""}`, as sent by existing clients. */
    options: z.string().max(1024).optional(),
  }),
  disclosure: {
    room_id: 'room',
    options: { fields: { ip_tag: ['local', 'public', 'internet', 'intranet', 'lan', 'wan'], idc_code: 'number' } },
  },
  token: [...accessToken, 'token'],
  success: z.strictObject({ addr: z.string() }),
  answer: { addr: 'own' },
  effect: 'reads',
  errors: [
    'parameter',
    'tokenIncorrect',
    'licenceExpired',
    'licenceExceeded',
    'roomNotFound',
    'roomClosed',
    'noNode',
    'nodeTimeout',
    'storage',
  ],
})

const listUsers = defineOperation({
  api: 'media',
  name: 'list_users',
  path: '/rtc/room/get_room_info',
  methods: ['GET'],
  safe: true,
  summary: 'List the users in a room.',
  params: z.object({ room_id: roomId }),
  disclosure: { room_id: 'room' },
  token: accessToken,
  success: z.strictObject({ user_list: z.array(z.strictObject({ user_name: z.string(), user_id: z.string() })) }),
  answer: { user_list: { user_name: 'length', user_id: 'user' } },
  effect: 'reads',
  errors: ['parameter', 'tokenIncorrect', 'roomNotFound', 'nodeTimeout'],
})

export const countUsers = defineOperation({
  api: 'media',
  name: 'get_user_number',
  path: '/rtc/room/get_user_number',
  methods: ['GET'],
  safe: true,
  summary: 'The number of users in a room.',
  params: z.object({ room_id: roomId }),
  disclosure: { room_id: 'room' },
  token: accessToken,
  success: z.strictObject({
    user_count_list: z.array(z.strictObject({ room_id: z.string(), user_count: z.number() })),
  }),
  answer: { user_count_list: { room_id: 'room', user_count: 'plain' } },
  effect: 'reads',
  errors: listUsers.errors,
  extension: true,
})

const forceOffline = defineOperation({
  api: 'media',
  name: 'force_offline',
  path: '/rtc/force_offline_mcu',
  methods: ['GET'],
  safe: false,
  summary: 'Remove a user from a room.',
  params: z.object({ room_id: roomId, user_id: userId }),
  disclosure: { room_id: 'room', user_id: 'user' },
  token: accessToken,
  success: z.strictObject({ msg: z.string() }),
  answer: { msg: 'message' },
  effect: { event: 'person.removed', subject: 'person', id: 'user_id' },
  errors: [
    'parameter',
    'tokenIncorrect',
    'roomNotFound',
    'roomClosed',
    'neverAssigned',
    'nodeOffline',
    'userNotOnline',
    'nodeTimeout',
    'storage',
  ],
})

export const joinUrl = defineOperation({
  api: 'media',
  name: 'join_url',
  path: '/rtc/room/join_url',
  methods: ['GET'],
  safe: true,
  summary: 'A join link with which one user joins a room in a browser.',
  params: z.object({
    room_id: roomId,
    user_id: nameBytes(1, limits.userId),
    user_name: nameBytes(1, limits.userName),
    /** Role of the user; default: member. */
    role: z.enum(['member', 'host'], 'must be member or host').optional(),
    /** Lifetime of the link, in seconds; default: as in the settings. */
    ttl: wholeNumber(linkLife.minMs / 1_000, linkLife.maxMs / 1_000).optional(),
  }),
  disclosure: { room_id: 'room', user_id: 'user', user_name: 'length', role: ['member', 'host'], ttl: 'number' },
  token: accessToken,
  success: z.strictObject({
    url: z.string(),
    /** Short URL for users. */
    short_url: z.string(),
    /** Expiry, in milliseconds since the epoch. */
    expires_at: z.number(),
  }),
  answer: { url: 'secret', short_url: 'secret', expires_at: 'plain' },
  effect: { event: 'link.made', subject: 'room', lasting: true },
  errors: ['parameter', 'tokenIncorrect', 'roomNotFound', 'roomClosed', 'noNode', 'recordingUnavailable'],
  extension: true,
})

export const mediaOperations = [
  authenticate,
  createRoom,
  getRoom,
  getRoomByExtendId,
  updateRoom,
  deleteRoom,
  getMcu,
  listUsers,
  countUsers,
  forceOffline,
  joinUrl,
  ...recordingOperations,
] as const
