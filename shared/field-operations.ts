import { z } from 'zod'
import { createOutgoingUser, destroyOutgoingUser, listOutgoingUsers } from './device-operations.ts'
import { limits } from './limits.ts'
import { recordOperations } from './field-records.ts'
import { createRoom, getMcu } from './media-operations.ts'
import { bytes, defineOperation, nameBytes, type OperationContract } from './operation.ts'
import type { ApiName } from './result-codes.ts'

/**
 * Calls of the original platform's clients that are not part of the two APIs, or differ from them. They are answered if
 * the settings in `compatibility` allow it.
 */

/** Path prefix of the operations on the original platform, where both APIs shared one origin. */
export const devicePathPrefix = '/avd/api/'

/** Names of the token in `client_info`. */
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
    /** JSON text `{"access_tocken":"…"}`. */
    client_info: z.string().max(limits.deviceOptions).optional(),
    /** `yes`: client_info is percent-encoded JSON. */
    uri_encode: z.string().max(16).optional(),
  }),
  disclosure: {
    client_info: { fields: { access_token: 'secret', access_tocken: 'secret', accessToken: 'secret' } },
    uri_encode: ['yes', 'no'],
  },
  token: tokenNames,
  tokenDocument: 'client_info',
  success: z.strictObject({
    /** `host:port` of an MCU, and the scheme of its signalling: `ws` or `wss`. */
    room_server: z.strictObject({ uri: z.string(), protocol: z.string() }),
    /** Empty, or STUN first and TURN second. */
    ice_servers: z.array(iceServer),
    /** Clients call get_mcu for each room. */
    is_cluster: z.boolean(),
    /** Origin of both APIs, without a scheme. */
    rest_uri: z.string(),
    /**
     * Native programs record and stream only if these names are present; browser SDKs check whether the object is
     * empty.
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
    /** Address at which the client expects the rooms; ignored. */
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

/** An empty topic becomes "Room <number>"; an empty owner_id is accepted. */
export const createRoomOfOlderClients = defineOperation({
  ...createRoom,
  params: createRoom.params.extend({ topic: nameBytes(0, limits.topic), owner_id: nameBytes(0, limits.ownerId) }),
  setting: 'older_clients',
})

/** `options` may be `undefined`, or an object with single quotes. */
export const getMcuOfOlderClients = defineOperation({ ...getMcu, setting: 'older_clients' })

/** Like getMcuOfOlderClients; an empty userName becomes the userId. */
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

/** Items contain both spellings of their names. */
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

/** Paths of the original platform's clients on each port, with one base address for both APIs. */
export const operationsOfOlderClients: Readonly<Record<ApiName, readonly OperationContract[]>> = {
  media: [createRoomOfOlderClients, getMcuOfOlderClients, serverInfo, ...ofDevices],
  device: ofDevices,
}
