import { z } from 'zod'
import { limits } from './limits.ts'
import { bytes, defineOperation, nameBytes } from './operation.ts'
import { roomId, userId } from './domain/ids.ts'

/** The external device API (specification, section 4.2): parameters, responses and errors of each operation. */

/** Names of the token parameter: two spellings of the specification, and a misspelling that existing clients use. */
const tokenNames = ['accessToken', 'access_token', 'access_tocken'] as const

const userAddress = bytes(1, limits.userAddress)

/** Object in a JSON body, otherwise its JSON text. The device API parses and limits the content itself. */
const options = z.union([z.string().max(limits.deviceOptions), z.record(z.string(), z.unknown())])

/**
 * Usual login names of cameras, which may be disclosed. Any other name may be a password entered in the wrong field.
 */
const usualLogins = ['admin', 'root', 'user', 'operator', 'viewer', 'guest']

const identity = z.strictObject({ roomId: z.string(), userId: z.string() })

export const createOutgoingUser = defineOperation({
  api: 'device',
  name: 'create_outgoing_user',
  path: '/avd/api/outgoing/createOutgoingUser',
  methods: ['GET', 'POST'],
  safe: false,
  summary: 'Create an outgoing user: the device joins the room, and is streaming when ret is 0.',
  params: z.object({
    roomId,
    userId: nameBytes(1, limits.userId),
    userName: nameBytes(1, limits.userName),
    userAddress,
    userData: bytes(0, limits.userData).optional(),
    options: options.optional(),
  }),
  disclosure: {
    roomId: 'room',
    userId: 'user',
    userName: 'length',
    userAddress: 'address',
    userData: 'length',
    options: { fields: { login_name: usualLogins, login_password: 'secret', assist_address: 'address' } },
  },
  token: tokenNames,
  success: z.strictObject({ data: identity }),
  answer: { data: { roomId: 'room', userId: 'user' } },
  effect: { event: 'device.added', subject: 'device', id: 'userId' },
  errors: [
    'parameter',
    'tokenIncorrect',
    'roomNotFound',
    'userExists',
    'joinFailed',
    'joinTimeout',
    'createUnavailable',
    'nodeTimeout',
    'licenceExpired',
    'licenceExceeded',
  ],
})

export const destroyOutgoingUser = defineOperation({
  api: 'device',
  name: 'destroy_outgoing_user',
  path: '/avd/api/outgoing/destroyOutgoingUser',
  methods: ['GET', 'POST'],
  safe: false,
  summary: 'Remove an outgoing user: it leaves the room.',
  params: z.object({ roomId, userId, userAddress }),
  disclosure: { roomId: 'room', userId: 'user', userAddress: 'address' },
  token: tokenNames,
  success: z.strictObject({ data: identity }),
  answer: { data: { roomId: 'room', userId: 'user' } },
  effect: { event: 'device.deleted', subject: 'device', id: 'userId' },
  errors: ['parameter', 'tokenIncorrect', 'roomNotFound', 'outgoingUserNotFound', 'destroyUnavailable', 'nodeTimeout'],
})

export const listOutgoingUsers = defineOperation({
  api: 'device',
  name: 'list_outgoing_users',
  path: '/avd/api/outgoing/getOutgoingUsers',
  methods: ['GET', 'POST'],
  safe: true,
  summary: 'List outgoing users, of one room or of all.',
  params: z.object({ roomId: bytes(0, limits.roomExtendId).optional() }),
  disclosure: { roomId: 'roomFilter' },
  token: tokenNames,
  success: z.strictObject({
    data: z.strictObject({
      total: z.number(),
      items: z.array(
        z.strictObject({
          roomId: z.string(),
          userId: z.string(),
          userName: z.string(),
          userAddress: z.string(),
          userData: z.string(),
          options: z.record(z.string(), z.unknown()),
        }),
      ),
    }),
  }),
  answer: {
    data: {
      total: 'plain',
      items: {
        roomId: 'room',
        userId: 'user',
        userName: 'length',
        userAddress: 'address',
        userData: 'length',
        options: 'size',
      },
    },
  },
  effect: 'reads',
  errors: ['parameter', 'tokenIncorrect', 'listUnavailable', 'nodeTimeout'],
})

export const deviceOperations = [createOutgoingUser, destroyOutgoingUser, listOutgoingUsers] as const
