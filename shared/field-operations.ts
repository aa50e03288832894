import { z } from 'zod'
import { createOutgoingUser, destroyOutgoingUser, listOutgoingUsers } from './device-operations.ts'
import { limits } from './limits.ts'
import { recordOperations } from './field-records.ts'
import { createRoom, getMcu } from './media-operations.ts'
import { bytes, defineOperation, nameBytes, type OperationContract } from './operation.ts'
import type { ApiName } from './result-codes.ts'

/**
 * Operations that clients of the original platform call in addition to the two APIs, or in a different form. They are
 * available if the settings in `compatibility` allow it.
 */

/** Path prefix of the device API on the original platform, where both APIs shared one origin. */
export const devicePathPrefix = '/avd/api/'

/** Accepted names of the token in `client_info`. */
const tokenNames = ['access_token', 'access_tocken', 'accessToken'] as const

const iceServer = z.strictObject({ url: z.string(), username: z.string(), credential: z.string() })

export const serverInfo = defineOperation({
  api: 'media',
  name: 'server_info',
  path: '/sdk/config/serverinfo',
  methods: ['GET'],
  safe: true,
  summary: 'Where rooms, ICE servers and the REST APIs are: the first call of the original SDKs.',
  params: z.object({
    /** JSON text with the token: `{"access_tocken":"…"}`. */
    client_info: z.string().max(limits.deviceOptions).optional(),
    /** `yes`: client_info contains percent-encoded JSON. */
    uri_encode: z.string().max(16).optional(),
  }),
  disclosure: {
    client_info: { fields: { access_token: 'secret', access_tocken: 'secret', accessToken: 'secret' } },
    uri_encode: ['yes', 'no'],
  },
  token: tokenNames,
  tokenDocument: 'client_info',
  success: z.strictObject({
    /** `host:port` of an MCU, and the scheme of its signaling: `ws` or `wss`. */
    room_server: z.strictObject({ uri: z.string(), protocol: z.string() }),
    /** ICE servers: none, or STUN first and TURN second. */
    ice_servers: z.array(iceServer),
    /** Whether clients must call get_mcu for each room. */
    is_cluster: z.boolean(),
    /** Origin of both APIs, without a scheme. */
    rest_uri: z.string(),
    /**
     * Feature names. Native programs record and stream only if these names are present; browser SDKs check only whether
     * the object is empty.
     */
    ft_value: z.record(z.string(), z.number()),
  }),
  answer: {
    room_server: { uri: 'own', protocol: 'own' },
    ice_servers: { url: 'own', username: 'secret', credential: 'secret' },
    is_cluster: 'plain',
    rest_uri: 'own',
    ft_value: 'size',
  },
  effect: 'reads',
  errors: ['parameter', 'tokenIncorrect', 'noNode'],
  extension: true,
  setting: 'older_clients',
})

export const getAccessToken = defineOperation({
  api: 'device',
  name: 'get_access_token',
  path: '/avd/api/admin/getAccessToken',
  methods: ['GET'],
  safe: true,
  summary: 'Exchange a key pair for an access token: the secret_key travels in the URL.',
  params: z.object({
    /** Address at which the client expects the rooms. Ignored. */
    mcuServerURI: z.string().max(1024).optional(),
    accessKey: bytes(1, limits.accessKey),
    secretKey: bytes(1, limits.secretKey),
  }),
  disclosure: { mcuServerURI: 'length', accessKey: 'credential', secretKey: 'secret' },
  token: null,
  success: z.strictObject({ data: z.strictObject({ accessToken: z.string() }) }),
  answer: { data: { accessToken: 'secret' } },
  effect: 'signsIn',
  errors: ['parameter', 'authenticationFailed', 'tooManyFailures', 'authenticationTimeout'],
  extension: true,
  setting: 'get_access_token',
})

/** Accepts an empty topic, which becomes "Room <number>", and an empty owner_id. */
export const createRoomOfOlderClients = defineOperation({
  ...createRoom,
  params: createRoom.params.extend({ topic: nameBytes(0, limits.topic), owner_id: nameBytes(0, limits.ownerId) }),
  setting: 'older_clients',
})

/** Accepts `options` that are `undefined`, or an object with single quotes. */
export const getMcuOfOlderClients = defineOperation({ ...getMcu, setting: 'older_clients' })

/** Accepts an empty userName, which becomes the userId; `options` as in getMcuOfOlderClients. */
export const createOutgoingUserOfOlderClients = defineOperation({
  ...createOutgoingUser,
  params: createOutgoingUser.params.extend({ userName: nameBytes(0, limits.userName) }),
  setting: 'older_clients',
})

export const destroyOutgoingUserOfOlderClients = defineOperation({ ...destroyOutgoingUser, setting: 'older_clients' })

const listed = listOutgoingUsers.success.shape.data
const bothSpellings = listed.shape.items.element.extend({
  room_id: z.string(),
  user_id: z.string(),
  user_name: z.string(),
  user_address: z.string(),
})

/** Each item contains both spellings of its field names. */
export const listOutgoingUsersOfOlderClients = defineOperation({
  ...listOutgoingUsers,
  success: z.strictObject({ data: listed.extend({ items: z.array(bothSpellings) }) }),
  answer: {
    data: {
      total: 'plain',
      items: {
        ...listOutgoingUsers.answer.data.items,
        room_id: 'room',
        user_id: 'user',
        user_name: 'length',
        user_address: 'address',
      },
    },
  },
  setting: 'older_clients',
})

/** Operations used only by clients of the original platform. */
export const fieldOperations: readonly OperationContract[] = [serverInfo, getAccessToken, ...recordOperations]

const ofDevices = [
  createOutgoingUserOfOlderClients,
  destroyOutgoingUserOfOlderClients,
  listOutgoingUsersOfOlderClients,
  getAccessToken,
  ...recordOperations,
] as const

/** Operations that clients of the original platform can call on each port. They use one base address for both APIs. */
export const operationsOfOlderClients = {
  media: [createRoomOfOlderClients, getMcuOfOlderClients, serverInfo, ...ofDevices],
  device: ofDevices,
} as const satisfies Record<ApiName, readonly OperationContract[]>
