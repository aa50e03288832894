import { limits } from '../../../../shared/limits.ts'
import { wellFormed } from '../operations.ts'
import { contract, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'

/** Rules about outgoing users that need no camera: the refusals of the device API. */
export const deviceRules: readonly Rule[] = [
  {
    id: 'create_outgoing_user.unknown-room',
    sentence: 'create_outgoing_user in a room that does not exist is refused with 424.',
    source: contract('4'),
    check: (trial) => trial.refused('create_outgoing_user', device(trial), 'roomNotFound'),
  },
  {
    id: 'create_outgoing_user.deleted-room',
    sentence: 'create_outgoing_user in a room that was deleted is refused with 424.',
    source: contract('4'),
    check: async (trial) => {
      const roomId = await trial.room()
      await trial.prepare('delete_room', { room_id: roomId })
      await trial.refused('create_outgoing_user', { ...device(trial), roomId }, 'roomNotFound')
    },
  },
  ...[
    { kind: 'port-left-out', userAddress: 'rtsp://10.0.0.5' },
    { kind: 'name', userAddress: 'rtsp://camera-1.example:554/stream' },
    { kind: 'ipv6', userAddress: 'rtsp://[2001:db8::1]:554/stream' },
    { kind: 'tls', userAddress: 'rtsps://10.0.0.5:322/stream' },
    { kind: 'query', userAddress: 'rtsp://10.0.0.5/cam/realmonitor?channel=1&subtype=0' },
    { kind: 'address-in-path', userAddress: 'rtsp://10.0.0.5:554/hikvision://192.168.1.121:8000:0:0' },
    { kind: 'login', userAddress: 'rtsp://admin:pass@10.0.0.5:554/h264/ch1/main/av_stream' },
    { kind: 'longest', userAddress: `rtsp://10.0.0.5/${'x'.repeat(limits.userAddress - 16)}` },
  ].map(
    ({ kind, userAddress }): Rule => ({
      id: `create_outgoing_user.address-${kind}`,
      sentence: `userAddress ${userAddress.slice(0, 70)} is well-formed.`,
      source: contract('4'),
      check: (trial) => trial.accepted('create_outgoing_user', { ...device(trial), userAddress }),
    }),
  ),
  ...[
    { kind: 'empty', options: '' },
    { kind: 'text', options: '{"login_name":"admin","login_password":"conformance-password","x":[1]}' },
    { kind: 'empty-object', options: '{}' },
  ].map(
    ({ kind, options }): Rule => ({
      id: `create_outgoing_user.options-${kind}`,
      sentence: `options ${options === '' ? 'that are empty' : options} are well-formed outside a JSON body.`,
      source: contract('4'),
      check: async (trial) => {
        trial.client.secrets.add('conformance-password')
        await trial.accepted('create_outgoing_user', { ...device(trial), options })
      },
    }),
  ),
  {
    id: 'create_outgoing_user.options-object',
    sentence: 'In a JSON body options are an object.',
    source: contract('4'),
    check: async (trial) => {
      const params = { ...device(trial), options: { login_name: 'admin', x: { y: 1 } } }
      await trial.accepted('create_outgoing_user', params, { as: 'json' })
    },
  },
  {
    id: 'create_outgoing_user.user-data-empty',
    sentence: 'userData may be empty.',
    source: contract('4'),
    check: (trial) => trial.accepted('create_outgoing_user', { ...device(trial), userData: '' }),
  },
  {
    id: 'create_outgoing_user.longest',
    sentence: 'userId of 128 bytes, userName of 256 and userData of 4096 are accepted.',
    source: contract('4'),
    check: async (trial) => {
      const longest = { userId: trial.id().padEnd(128, 'x'), userName: 'é'.repeat(128), userData: 'x'.repeat(4_096) }
      await trial.accepted('create_outgoing_user', { ...device(trial), ...longest })
    },
  },
  ...(['form', 'json'] as const).map(
    (as): Rule => ({
      id: `create_outgoing_user.post-${as}`,
      sentence: `create_outgoing_user takes its parameters from a POST body (${as}).`,
      source: contract('4'),
      check: (trial) => trial.accepted('create_outgoing_user', device(trial), { as }),
    }),
  ),
  {
    id: 'destroy_outgoing_user.unknown-room',
    sentence: 'destroy_outgoing_user in a room that does not exist is refused with 424.',
    source: contract('4'),
    check: (trial) =>
      trial.refused('destroy_outgoing_user', wellFormed('destroy_outgoing_user', trial.id()), 'roomNotFound'),
  },
  {
    id: 'destroy_outgoing_user.unknown-user',
    sentence: 'destroy_outgoing_user of a user who does not exist is refused with 425.',
    source: specification('3'),
    check: async (trial) => {
      const params = { ...wellFormed('destroy_outgoing_user', trial.id()), roomId: await trial.room() }
      await trial.refused('destroy_outgoing_user', params, 'outgoingUserNotFound')
    },
  },
  {
    id: 'destroy_outgoing_user.post',
    sentence: 'destroy_outgoing_user is GET or POST.',
    source: contract('4'),
    check: async (trial) => {
      const params = wellFormed('destroy_outgoing_user', trial.id())
      await trial.accepted('destroy_outgoing_user', params, { as: 'form' })
      await trial.accepted('destroy_outgoing_user', params, { as: 'json' })
    },
  },
  {
    id: 'list_outgoing_users.unknown-room',
    sentence: 'list_outgoing_users of an unknown room answers with total 0 and no items.',
    source: contract('4'),
    check: async (trial) => {
      trial.equal('data', (await trial.succeed('list_outgoing_users', { roomId: trial.id() })).data, {
        total: 0,
        items: [],
      })
    },
  },
  ...[
    { kind: 'all', params: {} },
    { kind: 'empty-room', params: { roomId: '' } },
  ].map(
    ({ kind, params }): Rule => ({
      id: `list_outgoing_users.${kind}`,
      sentence: `list_outgoing_users with ${kind === 'all' ? 'no' : 'an empty'} roomId lists all; total is the number of items.`,
      source: specification('4.2'),
      check: async (trial) => {
        const { data } = await trial.succeed('list_outgoing_users', params)
        trial.equal('total', data.total, data.items.length)
      },
    }),
  ),
]

/** Well-formed parameters of a device in a room that does not exist. */
function device(trial: Trial): Record<string, string> {
  return wellFormed('create_outgoing_user', trial.id())
}
