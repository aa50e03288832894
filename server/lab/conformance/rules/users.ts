import { contract, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'
import { needsOperation } from './tokens.ts'

/** Codes of get_mcu that a site without free MCUs answers. */
const noMcu: readonly (number | undefined)[] = [405, 409, 410, 411]

/** Rules about the MCU of a room and the users in it. */
export const userRules: readonly Rule[] = [
  {
    id: 'get_mcu.success',
    sentence: 'addr is host:port, without a scheme: clients open ws://<addr>/ws.',
    source: contract('3'),
    check: async (trial) => {
      const addr = await mcu(trial, await trial.room())
      trial.holds(/^(\[[\da-f:.%]+\]|[\w.-]+):\d{1,5}$/i.test(addr), 'host:port', addr)
    },
  },
  {
    id: 'get_mcu.again',
    sentence: 'A room keeps its MCU: the second answer equals the first.',
    source: contract('3'),
    check: async (trial) => {
      const room_id = await trial.room()
      trial.equal('addr', await mcu(trial, room_id), await mcu(trial, room_id))
    },
  },
  {
    id: 'get_mcu.options',
    sentence: 'options with ip_tag and idc_code, and with keys that are unknown, are accepted.',
    source: contract('3'),
    check: async (trial) => {
      const room_id = await trial.room()
      await mcu(trial, room_id)
      const options = '{"ip_tag":"local","idc_code":"","other":1}'
      await trial.succeed('get_mcu', { room_id, options })
    },
  },
  {
    id: 'get_mcu.empty-options',
    sentence: 'Empty options count as not given.',
    source: contract('1'),
    check: async (trial) => {
      const room_id = await trial.room()
      await mcu(trial, room_id)
      await trial.succeed('get_mcu', { room_id, options: '' })
    },
  },
  {
    id: 'list_users.without-mcu',
    sentence: 'A room without an MCU has an empty user_list.',
    source: contract('3'),
    check: async (trial) => {
      trial.equal('user_list', (await trial.succeed('list_users', { room_id: await trial.room() })).user_list, [])
    },
  },
  {
    id: 'list_users.empty',
    sentence: 'An empty room with an MCU has an empty user_list.',
    source: specification('4.1'),
    check: async (trial) => {
      const room_id = await trial.room()
      await mcu(trial, room_id)
      trial.equal('user_list', (await trial.succeed('list_users', { room_id })).user_list, [])
    },
  },
  {
    id: 'get_user_number.empty',
    sentence: 'get_user_number of an empty room answers with its room_id and 0.',
    source: contract('5'),
    check: async (trial) => {
      await needsOperation(trial, 'get_user_number')
      const room_id = await trial.room()
      const { user_count_list: counts } = await trial.succeed('get_user_number', { room_id })
      trial.equal('user_count_list', counts, [{ room_id, user_count: 0 }])
    },
  },
  {
    id: 'force_offline.never-assigned',
    sentence: 'force_offline in a room that never had an MCU is refused with 428.',
    source: specification('7.1'),
    check: async (trial) => {
      await trial.refused('force_offline', { room_id: await trial.room(), user_id: trial.id() }, 'neverAssigned')
    },
  },
  {
    id: 'force_offline.nobody',
    sentence: 'force_offline of a user who is not in the room is refused with 429.',
    source: specification('7.1'),
    check: async (trial) => {
      const room_id = await trial.room()
      await mcu(trial, room_id)
      await trial.refused('force_offline', { room_id, user_id: trial.id() }, 'userNotOnline')
    },
  },
]

/** Returns the MCU of a room. @throws NotProvokedError if the site has no free MCU */
export async function mcu(trial: Trial, room_id: string): Promise<string> {
  const answer = await trial.call('get_mcu', { room_id })
  if (noMcu.includes(answer.ret)) throw new NotProvokedError(`needs a site with an MCU: ${answer.exchange.came}`)
  return (await trial.succeed('get_mcu', { room_id })).addr
}
