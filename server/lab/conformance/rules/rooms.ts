import { limits } from '../../../../shared/limits.ts'
import type { CallParameters } from '../../client/api-call.ts'
import { wellFormed } from '../operations.ts'
import { BrokenRuleError, contract, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'
import { needsOperation } from './tokens.ts'

const usual = wellFormed('create_room', '')
/** A topic in three scripts with an emoji, 149 bytes long. */
const longTopic = `晨会 & Müller 😀 ${'x'.repeat(limits.topic - Buffer.byteLength('晨会 & Müller 😀 '))}`

/** Operations on a room by its number, which refuse an unknown one. */
const ofRoom = [
  'get_room',
  'delete_room',
  'get_mcu',
  'list_users',
  'force_offline',
  'update_room',
  'get_user_number',
  'join_url',
] as const

/** Rules of creating, reading, changing and deleting rooms. */
export const roomRules: readonly Rule[] = [
  {
    id: 'create_room.success',
    sentence: 'A room is created, and is there when the answer arrives.',
    source: specification('4.1'),
    check: async (trial) => {
      const { room_id } = await trial.succeed('create_room', usual)
      trial.equal('room_id', (await trial.succeed('get_room', { room_id })).room_id, room_id)
    },
  },
  {
    id: 'create_room.number',
    sentence: 'Without room_extend_id, room_id is a number of nine digits, as text, that no other room has.',
    source: contract('3'),
    check: async (trial) => {
      const [one, other] = [await trial.room(), await trial.room()]
      trial.holds(/^[1-9]\d{8}$/.test(one), 'nine digits', one)
      trial.holds(one !== other, 'another number', other)
    },
  },
  {
    id: 'create_room.extend-id',
    sentence: 'room_id equals room_extend_id where the caller gave one.',
    source: specification('2.1'),
    check: async (trial) => {
      const room_extend_id = trial.id()
      trial.equal('room_id', (await trial.succeed('create_room', { ...usual, room_extend_id })).room_id, room_extend_id)
      trial.equal(
        'room_extend_id',
        (await trial.prepare('get_room', { room_id: room_extend_id })).room_extend_id,
        room_extend_id,
      )
    },
  },
  {
    id: 'create_room.extend-id.duplicate',
    sentence: 'A second room with the same room_extend_id is refused with 407, and msg names the parameter.',
    source: contract('3'),
    check: async (trial) => {
      const room_extend_id = await trial.room({ room_extend_id: trial.id() })
      await trial.refused('create_room', { ...usual, room_extend_id }, 'parameter', { names: 'room_extend_id' })
    },
  },
  {
    id: 'create_room.extend-id.case',
    sentence: 'room_extend_id is case-sensitive.',
    source: contract('1'),
    check: async (trial) => {
      const room_extend_id = await trial.room({ room_extend_id: `${trial.id()}-a` })
      await trial.succeed('create_room', { ...usual, room_extend_id: room_extend_id.replace(/a$/, 'A') })
    },
  },
  {
    id: 'create_room.extend-id.again',
    sentence: 'After its room is deleted, a room_extend_id may be used again; the room has another id.',
    source: contract('3'),
    check: async (trial) => {
      const room_id = await trial.room({ room_extend_id: trial.id() })
      const { id } = await trial.prepare('get_room', { room_id })
      await trial.prepare('delete_room', { room_id })
      await trial.succeed('create_room', { ...usual, room_extend_id: room_id })
      const { id: next } = await trial.prepare('get_room', { room_id })
      trial.holds(next !== id, `an id other than ${id}`, `id ${next}`)
    },
  },
  ...[
    { kind: 'topic', params: { topic: longTopic }, source: specification('8') },
    { kind: 'owner', params: { owner_id: 'o'.repeat(limits.ownerId) }, source: contract('3') },
    { kind: 'password', params: { host_password: 'p'.repeat(limits.hostPassword) }, source: contract('3') },
    { kind: 'caps', params: { attendee_max: 10_000, max_audio: 10_000, max_video: 10_000 }, source: contract('3') },
    { kind: 'small-caps', params: { attendee_max: 1, max_audio: 2, max_video: 3 }, source: specification('8') },
  ].map(
    ({ kind, params, source }): Rule => ({
      id: `create_room.${kind}.returned`,
      sentence: `${Object.keys(params).join(', ')} at the limit: accepted, and returned by get_room as given.`,
      source,
      check: (trial) => returnsAsGiven(trial, params),
    }),
  ),
  {
    id: 'create_room.long-extend-id',
    sentence: 'A room_extend_id of 128 bytes is accepted.',
    source: contract('3'),
    check: async (trial) => {
      const room_extend_id = trial.id().padEnd(limits.roomExtendId, 'x')
      await trial.succeed('create_room', { ...usual, room_extend_id })
    },
  },
  ...(['1', '2'] as const).map(
    (room_mode): Rule => ({
      id: `create_room.mode-${room_mode}`,
      sentence: `room_mode ${room_mode} (MCU) is accepted, and returned by get_room as a number.`,
      source: specification('2.1'),
      check: (trial) => returnsAsGiven(trial, { room_mode: Number(room_mode) }),
    }),
  ),
  ...(['3', '4'] as const).map(
    (room_mode): Rule => ({
      id: `create_room.mode-${room_mode}`,
      sentence: `room_mode ${room_mode} (P2P) is accepted, or refused with 701 where the credential lacks the permission.`,
      source: specification('7.1'),
      check: async (trial) => {
        const answer = await trial.call('create_room', { ...usual, room_mode })
        if (answer.ret !== 701) trial.equal('ret', answer.ret, 0)
      },
    }),
  ),
  {
    id: 'create_room.empty-options',
    sentence: 'Optional parameters that are empty, and caps of 0, count as not given: native clients send all of them.',
    source: contract('1'),
    check: async (trial) => {
      const empty = { host_password: '', room_extend_id: '', attendee_max: 0, max_audio: '0', max_video: '' }
      const { room_id } = await trial.succeed('create_room', { ...usual, ...empty })
      const room = await trial.prepare('get_room', { room_id })
      trial.equal('host_password and room_extend_id', [room.host_password, room.room_extend_id], ['', ''])
      const caps = [room.attendee_max, room.max_audio, room.max_video]
      trial.holds(
        caps.every((cap) => cap > 0),
        'the default caps',
        JSON.stringify(caps),
      )
    },
  },
  {
    id: 'get_room.new',
    sentence: 'A new room has status 0, its topic and owner as given, unset texts "", and default caps.',
    source: contract('3'),
    check: async (trial) => {
      const room = await trial.succeed('get_room', { room_id: await trial.room() })
      const { room_status, topic, owner_id, host_password, room_extend_id, room_mode } = room
      trial.equal(
        'room',
        { room_status, topic, owner_id, host_password, room_extend_id, room_mode },
        {
          room_status: 0,
          topic: usual.topic,
          owner_id: usual.owner_id,
          host_password: '',
          room_extend_id: '',
          room_mode: 1,
        },
      )
      const caps = [room.attendee_max, room.max_audio, room.max_video]
      trial.holds(
        caps.every((cap) => Number.isSafeInteger(cap) && cap > 0),
        'caps above 0',
        JSON.stringify(caps),
      )
    },
  },
  {
    id: 'get_room.id',
    sentence: 'id is a positive number that no other room has.',
    source: contract('3'),
    check: async (trial) => {
      const one = await trial.succeed('get_room', { room_id: await trial.room() })
      const other = await trial.succeed('get_room', { room_id: await trial.room() })
      trial.holds(
        Number.isSafeInteger(one.id) && one.id > 0 && one.id !== other.id,
        'two ids',
        `${one.id}, ${other.id}`,
      )
    },
  },
  ...ofRoom.map(
    (name): Rule => ({
      id: `${name}.unknown-room`,
      sentence: `${name} of a room that does not exist is refused with 404.`,
      source:
        name === 'update_room' || name === 'get_user_number' || name === 'join_url'
          ? contract('3')
          : specification('4.1'),
      check: async (trial) => {
        await needsOperation(trial, name)
        await trial.refused(name, wellFormed(name, trial.id()), 'roomNotFound')
      },
    }),
  ),
  ...ofRoom.map(
    (name): Rule => ({
      id: `${name}.deleted-room`,
      sentence: `${name} of a room that was deleted is refused with 404.`,
      source: specification('3'),
      check: async (trial) => {
        await needsOperation(trial, name)
        const room_id = await trial.room()
        await trial.prepare('delete_room', { room_id })
        await trial.refused(name, { ...wellFormed(name, trial.id()), room_id }, 'roomNotFound')
      },
    }),
  ),
  {
    id: 'delete_room.success',
    sentence: 'delete_room answers with the room_id.',
    source: specification('4.1'),
    check: async (trial) => {
      const room_id = await trial.room()
      trial.equal('room_id', (await trial.succeed('delete_room', { room_id })).room_id, room_id)
    },
  },
  {
    id: 'update_room.success',
    sentence: 'update_room changes what is given, keeps the rest, and answers with the room_id.',
    source: contract('3'),
    check: async (trial) => {
      await needsOperation(trial, 'update_room')
      const room_id = await trial.room({ host_password: 'before', attendee_max: 7 })
      const before = await trial.prepare('get_room', { room_id })
      const changes = { topic: 'After', max_video: 5 }
      trial.equal('answer', await trial.succeed('update_room', { room_id, ...changes }), { room_id })
      trial.equal('room', await trial.prepare('get_room', { room_id }), { ...before, ...changes })
    },
  },
  {
    id: 'get_room_by_extend_id.success',
    sentence: 'get_room_by_extend_id answers as get_room.',
    source: contract('5'),
    check: async (trial) => {
      await needsOperation(trial, 'get_room_by_extend_id')
      const room_id = await trial.room({ room_extend_id: trial.id() })
      const found = await trial.succeed('get_room_by_extend_id', { room_extend_id: room_id })
      trial.equal('room', found, await trial.prepare('get_room', { room_id }))
    },
  },
  {
    id: 'get_room_by_extend_id.number',
    sentence: 'get_room_by_extend_id does not find a room by its number: 404.',
    source: contract('5'),
    check: async (trial) => {
      await needsOperation(trial, 'get_room_by_extend_id')
      await trial.refused('get_room_by_extend_id', { room_extend_id: await trial.room() }, 'roomNotFound')
    },
  },
  {
    id: 'join_url.success',
    sentence: 'join_url answers with two addresses and their expiry, ttl seconds from now.',
    source: contract('3'),
    check: async (trial) => {
      await needsOperation(trial, 'join_url')
      const params = { ...wellFormed('join_url', trial.id()), room_id: await trial.room(), ttl: 600, role: 'host' }
      const { ret } = await trial.call('join_url', params)
      if (ret === 410 || ret === 431) throw new NotProvokedError(`needs a site with an MCU: ret ${ret}`)
      const { url, short_url, expires_at } = await trial.succeed('join_url', params)
      trial.client.secrets.add(url, short_url)
      trial.holds(URL.canParse(url) && URL.canParse(short_url), 'two URLs', `${url} ${short_url}`)
      const left = Math.round((expires_at - Date.now()) / 1_000)
      trial.holds(Math.abs(left - 600) < 120, 'an expiry 600 s from now', `${left} s`)
    },
  },
]

/** Creates a room, and requires that get_room returns its parameters unchanged. */
async function returnsAsGiven(trial: Trial, params: CallParameters): Promise<void> {
  const { room_id } = await trial.succeed('create_room', { ...usual, ...params })
  const room: Readonly<Record<string, unknown>> = await trial.succeed('get_room', { room_id })
  const came = Object.fromEntries(Object.keys(params).map((name) => [name, room[name]]))
  if (JSON.stringify(came) !== JSON.stringify(params))
    throw new BrokenRuleError(JSON.stringify(params), JSON.stringify(came))
}
