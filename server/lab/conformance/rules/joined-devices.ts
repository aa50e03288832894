import type { CallParameters } from '../../client/api-call.ts'
import { codeOf } from '../operations.ts'
import { BrokenRuleError, contract, failedNeed, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'
import { mcu } from './users.ts'

/** Time until a list shows a device that has joined or left, in milliseconds. */
const settleMs = 2_000
const password = 'conformance-camera-password'

/** Parameters that name a device. */
interface Device {
  [name: string]: unknown
  roomId: string
  userId: string
  userAddress: string
}

/** Rules about devices that join a room, and about those that cannot. */
export const joinedDeviceRules: readonly Rule[] = [
  {
    id: 'create_outgoing_user.success',
    sentence: 'A device that streams joins: ret 0, and data has the roomId and userId that were passed.',
    source: specification('4.2'),
    check: async (trial) => {
      const given = await camera(trial)
      const { data } = await create(trial, given)
      trial.equal('data', data, { roomId: given.roomId, userId: given.userId })
    },
  },
  {
    id: 'list_outgoing_users.item',
    sentence: 'The list has the device with roomId, userId, userName, userAddress, userData and options as given.',
    source: specification('4.2'),
    check: async (trial) => {
      const given = { ...(await joined(trial, { userData: 'floor 2', options: '{"login_name":"admin","x":1}' })) }
      const [item] = await listed(trial, given.roomId)
      trial.equal('item', item && { ...item }, {
        roomId: given.roomId,
        userId: given.userId,
        userName: given.userName,
        userAddress: given.userAddress,
        userData: 'floor 2',
        options: { login_name: 'admin', x: 1 },
      })
    },
  },
  {
    id: 'list_outgoing_users.defaults',
    sentence: 'Without userData and options, the list has "" and an empty object.',
    source: contract('4'),
    check: async (trial) => {
      const [item] = await listed(trial, (await joined(trial)).roomId)
      trial.equal('userData and options', [item?.userData, item?.options], ['', {}])
    },
  },
  {
    id: 'list_outgoing_users.password',
    sentence: 'A login_password is never shown again: the list has "******" instead.',
    source: contract('4'),
    check: async (trial) => {
      const options = JSON.stringify({ login_name: 'admin', login_password: password })
      const { roomId } = await joined(trial, { options })
      const answer = await trial.call('list_outgoing_users', { roomId })
      if (answer.text.includes(password)) throw new BrokenRuleError('"******"', 'the password')
      const [item] = await listed(trial, roomId)
      trial.equal('login_password', item?.options.login_password, '******')
    },
  },
  {
    id: 'list_outgoing_users.address-login',
    sentence: 'user:password@ in userAddress is accepted, and never shown again.',
    source: contract('4'),
    check: async (trial) => {
      const given = await camera(trial)
      const userAddress = given.userAddress.replace('://', `://admin:${password}@`)
      await create(trial, { ...given, userAddress })
      const answer = await trial.call('list_outgoing_users', { roomId: given.roomId })
      if (answer.text.includes(password)) throw new BrokenRuleError('an address without login', 'the password')
      const [item] = await listed(trial, given.roomId)
      trial.equal('userAddress', item?.userAddress, given.userAddress)
    },
  },
  {
    id: 'list_outgoing_users.order',
    sentence: 'Items are in the order of creation; roomId selects those of one room; total counts them.',
    source: contract('4'),
    check: async (trial) => {
      const first = await joined(trial)
      const second = await joined(trial, { roomId: first.roomId })
      const ofOtherRoom = await joined(trial)
      const { data } = await trial.succeed('list_outgoing_users', { roomId: first.roomId })
      trial.equal('total', data.total, 2)
      trial.equal(
        'userIds',
        data.items.map(({ userId }) => userId),
        [first.userId, second.userId],
      )
      const all = (await trial.succeed('list_outgoing_users', {})).data.items.map(({ userId }) => userId)
      const missing = [first, second, ofOtherRoom].filter(({ userId }) => !all.includes(userId))
      trial.equal('devices missing in the whole list', missing.length, 0)
    },
  },
  {
    id: 'list_users.device',
    sentence: 'A device that has joined is in the user_list of its room, with its name.',
    source: contract('3'),
    check: async (trial) => {
      const { roomId, userId, userName } = await joined(trial)
      await trial.soon(settleMs, async () => {
        const { user_list: users } = await trial.succeed('list_users', { room_id: roomId })
        trial.equal('user_list', users, [{ user_name: userName, user_id: userId }])
      })
    },
  },
  {
    id: 'get_room.occupied',
    sentence: 'room_status is 1 while somebody is in the room.',
    source: contract('3'),
    check: async (trial) => {
      const { roomId } = await joined(trial)
      await trial.soon(settleMs, async () => {
        trial.equal('room_status', (await trial.succeed('get_room', { room_id: roomId })).room_status, 1)
      })
    },
  },
  {
    id: 'create_outgoing_user.duplicate',
    sentence: 'A second outgoing user with the same userId is refused with 423, also in another room.',
    source: specification('3'),
    check: async (trial) => {
      const given = await joined(trial)
      await trial.refused('create_outgoing_user', given, 'userExists')
      await trial.refused('create_outgoing_user', { ...given, roomId: await trial.room() }, 'userExists')
    },
  },
  {
    id: 'order.create_outgoing_user.room-before-user',
    sentence: 'An unknown room is answered 424, although the userId exists, too.',
    source: contract('4'),
    check: async (trial) => {
      await trial.refused('create_outgoing_user', { ...(await joined(trial)), roomId: trial.id() }, 'roomNotFound')
    },
  },
  {
    id: 'create_outgoing_user.same-camera',
    sentence: 'One camera may be an outgoing user several times, under different userIds.',
    source: contract('4'),
    check: async (trial) => {
      const given = await joined(trial)
      await create(trial, { ...given, userId: trial.id() })
    },
  },
  {
    id: 'destroy_outgoing_user.success',
    sentence: 'destroy_outgoing_user answers with roomId and userId; the device has left the list and the room.',
    source: specification('4.2'),
    check: async (trial) => {
      const { roomId, userId, userAddress } = await joined(trial)
      const { data } = await trial.succeed('destroy_outgoing_user', { roomId, userId, userAddress })
      trial.equal('data', data, { roomId, userId })
      trial.equal('items', await listed(trial, roomId), [])
      await trial.soon(settleMs, async () => {
        trial.equal('user_list', (await trial.succeed('list_users', { room_id: roomId })).user_list, [])
      })
    },
  },
  {
    id: 'destroy_outgoing_user.again',
    sentence: 'A second destroy_outgoing_user is refused with 425, and the userId may be used again.',
    source: specification('3'),
    check: async (trial) => {
      const given = await joined(trial)
      const { roomId, userId, userAddress } = given
      await trial.prepare('destroy_outgoing_user', { roomId, userId, userAddress })
      await trial.refused('destroy_outgoing_user', { roomId, userId, userAddress }, 'outgoingUserNotFound')
      await create(trial, given)
    },
  },
  {
    id: 'destroy_outgoing_user.other-address',
    sentence: 'destroy_outgoing_user with another userAddress is refused with 425.',
    source: contract('4'),
    check: async (trial) => {
      const { roomId, userId } = await joined(trial)
      const userAddress = 'rtsp://10.0.0.5:554/other'
      await trial.refused('destroy_outgoing_user', { roomId, userId, userAddress }, 'outgoingUserNotFound')
      trial.equal('number of items', (await listed(trial, roomId)).length, 1)
    },
  },
  {
    id: 'destroy_outgoing_user.other-room',
    sentence: 'destroy_outgoing_user of a device of another room is refused with 425.',
    source: contract('4'),
    check: async (trial) => {
      const { userId, userAddress } = await joined(trial)
      const params = { roomId: await trial.room(), userId, userAddress }
      await trial.refused('destroy_outgoing_user', params, 'outgoingUserNotFound')
    },
  },
  {
    id: 'force_offline.success',
    sentence:
      'force_offline removes the user, and answers with a msg; a device is removed as by destroy_outgoing_user.',
    source: contract('3'),
    check: async (trial) => {
      const { roomId, userId, userAddress } = await joined(trial)
      const { msg } = await trial.succeed('force_offline', { room_id: roomId, user_id: userId })
      trial.holds(msg !== '', 'a success text', 'an empty msg')
      trial.equal('items', await listed(trial, roomId), [])
      await trial.refused('force_offline', { room_id: roomId, user_id: userId }, 'userNotOnline')
      await trial.refused('destroy_outgoing_user', { roomId, userId, userAddress }, 'outgoingUserNotFound')
    },
  },
  {
    id: 'delete_room.devices',
    sentence: 'delete_room removes the devices of the room.',
    source: contract('3'),
    check: async (trial) => {
      const { roomId, userId, userAddress } = await joined(trial)
      await trial.succeed('delete_room', { room_id: roomId })
      trial.equal('items', await listed(trial, roomId), [])
      const all = (await trial.succeed('list_outgoing_users', {})).data.items
      trial.equal('items with the userId', all.filter((item) => item.userId === userId).length, 0)
      await trial.refused('destroy_outgoing_user', { roomId, userId, userAddress }, 'roomNotFound')
    },
  },
  failing('refused', 'A device that refuses the connection is answered 426.', 'joinFailed', ({ cameras }) =>
    cameras.closed(),
  ),
  failing('not-found', 'A device that answers 404 to its path is answered 426.', 'joinFailed', ({ cameras }) =>
    cameras.answering('404 Not Found'),
  ),
  failing('wrong-login', 'A device that refuses the login is answered 426.', 'joinFailed', ({ cameras }) =>
    cameras.answering('401 Unauthorized', 'WWW-Authenticate: Digest realm="camera", nonce="0123456789abcdef"'),
  ),
  failing('silent', 'A device that does not answer is answered 427.', 'joinTimeout', ({ cameras }) => cameras.silent()),
]

/** A rule about a device that cannot join: its code, and that nothing of it is left. */
function failing(
  kind: string,
  sentence: string,
  error: 'joinFailed' | 'joinTimeout',
  address: (trial: Trial) => Promise<string>,
): Rule {
  return {
    id: `create_outgoing_user.${kind}`,
    sentence: `${sentence} It is not in the list.`,
    source: specification('3'),
    check: async (trial) => {
      const given = { ...(await camera(trial)), userAddress: await address(trial) }
      await mcu(trial, given.roomId)
      await trial.refused('create_outgoing_user', given, error)
      trial.equal('items', await listed(trial, given.roomId), [])
    },
  }
}

/** Returns the parameters of a device that streams, in a new room unless one is given. */
async function camera(trial: Trial, params: CallParameters = {}): Promise<Device & { userName: string }> {
  const userAddress = await trial.cameras.streaming()
  const roomId = typeof params.roomId === 'string' ? params.roomId : await trial.room()
  return { roomId, userId: trial.id(), userName: 'Conformance camera', userAddress }
}

/** Creates a device. @throws NotProvokedError if its join is what failed */
async function create(trial: Trial, given: CallParameters) {
  trial.client.secrets.add(password)
  const answer = await trial.call('create_outgoing_user', given)
  if (
    answer.ret === codeOf('create_outgoing_user', 'joinFailed') ||
    answer.ret === codeOf('create_outgoing_user', 'joinTimeout')
  )
    throw new NotProvokedError(`needs a camera that the server can reach (--camera): ${answer.exchange.came}`)
  return trial.succeeded('create_outgoing_user', answer)
}

/** Creates a device as a step before what a rule is about. */
export async function joined(trial: Trial, params: CallParameters = {}): Promise<Device & { userName: string }> {
  const given = { ...(await camera(trial, params)), ...params }
  try {
    await create(trial, given)
  } catch (error) {
    if (!(error instanceof BrokenRuleError)) throw error
    throw new NotProvokedError(`${failedNeed('create_outgoing_user')}: ${error.came}`)
  }
  return given
}

async function listed(trial: Trial, roomId: string) {
  return (await trial.succeed('list_outgoing_users', { roomId })).data.items
}
