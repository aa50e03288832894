import type { Rule } from '../trial.ts'
import { contract, NotProvokedError } from '../verdict.ts'
import { wellFormed } from '../operations.ts'
import { needsOperation } from './tokens.ts'

/** Token that no session has. */
const wrong = Buffer.from('1'.repeat(40)).toString('base64')

/** Rules about the order of checks: the first problem of a call is answered. */
export const orderRules: readonly Rule[] = [
  {
    id: 'order.path-before-parameters',
    sentence: 'An unknown path is answered 408, although a parameter is malformed, too.',
    source: contract('1'),
    check: (trial) =>
      trial.refused('get_room', {}, 'notSupported', { path: '/rtc/room/nothing', query: 'room_id=%zz', token: null }),
  },
  {
    id: 'order.method-before-parameters',
    sentence: 'An unsupported method is answered 408, although a parameter is missing, too.',
    source: contract('1'),
    check: (trial) => trial.refused('get_room', {}, 'notSupported', { method: 'DELETE', token: null }),
  },
  ...(['create_room', 'get_room', 'delete_room', 'get_mcu', 'list_users', 'force_offline'] as const).map(
    (name): Rule => ({
      id: `order.${name}.parameters-before-token`,
      sentence: `${name} without its parameters and with a wrong token is answered 407, not 602.`,
      source: contract('1'),
      check: (trial) => trial.refused(name, {}, 'parameter', { token: wrong }),
    }),
  ),
  ...(['get_room', 'delete_room', 'get_mcu', 'list_users', 'force_offline'] as const).map(
    (name): Rule => ({
      id: `order.${name}.token-before-room`,
      sentence: `${name} of an unknown room with a wrong token is answered 602, not 404.`,
      source: contract('1'),
      check: (trial) => trial.refused(name, wellFormed(name, trial.id()), 'tokenIncorrect', { token: wrong }),
    }),
  ),
  {
    id: 'order.create_room.token-before-duplicate',
    sentence:
      'create_room with a room_extend_id in use and a wrong token is answered 602: nothing is told about rooms.',
    source: contract('1'),
    check: async (trial) => {
      const room_extend_id = await trial.room({ room_extend_id: trial.id() })
      const params = { ...wellFormed('create_room', ''), room_extend_id }
      await trial.refused('create_room', params, 'tokenIncorrect', { token: wrong })
    },
  },
  {
    id: 'order.update_room.permission-before-room',
    sentence: 'update_room of an unknown room to a P2P mode, without the permission, is answered 701, not 404.',
    source: contract('1'),
    check: async (trial) => {
      await needsOperation(trial, 'update_room')
      const { ret } = await trial.call('create_room', { ...wellFormed('create_room', ''), room_mode: '3' })
      if (ret === 0) throw new NotProvokedError('needs a credential without the P2P permission')
      await trial.refused('update_room', { room_id: trial.id(), room_mode: '3' }, 'noP2pPermission')
    },
  },
]
