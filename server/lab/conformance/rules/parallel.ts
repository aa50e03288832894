import type { Answer } from '../client.ts'
import { wellFormed } from '../operations.ts'
import type { Rule } from '../trial.ts'
import { contract, NotProvokedError, specification } from '../verdict.ts'

/** Number of calls at the same time. */
const calls = 20
const usual = wellFormed('create_room', '')

/** Rules about calls at the same time. */
export const parallelRules: readonly Rule[] = [
  {
    id: 'parallel.create_room.numbers',
    sentence: `${calls} rooms created at the same time have different numbers.`,
    source: contract('3'),
    check: async (trial) => {
      const rooms = await settled(many(() => trial.succeed('create_room', usual)))
      trial.equal('numbers', new Set(rooms.map(({ room_id }) => room_id)).size, calls)
    },
  },
  {
    id: 'parallel.create_room.duplicate',
    sentence: `Of ${calls} calls at the same time with one room_extend_id, one succeeds and the others are refused with 407.`,
    source: contract('3'),
    check: async (trial) => {
      const room_extend_id = trial.id()
      const answers = await settled(many(() => trial.call('create_room', { ...usual, room_extend_id })))
      trial.equal('results', countOf(answers), { '0': 1, '407': calls - 1 })
    },
  },
  {
    id: 'parallel.delete_room',
    sentence: `Of ${calls} deletions of a room at the same time, one succeeds and the others are refused with 404.`,
    source: specification('3'),
    check: async (trial) => {
      const room_id = await trial.room()
      const answers = await settled(many(() => trial.call('delete_room', { room_id })))
      trial.equal('results', countOf(answers), { '0': 1, '404': calls - 1 })
    },
  },
  {
    id: 'parallel.get_mcu',
    sentence: `${calls} calls of get_mcu at the same time get the same address.`,
    source: contract('3'),
    check: async (trial) => {
      const room_id = await trial.room()
      const answers = await settled(many(() => trial.call('get_mcu', { room_id })))
      const refusal = answers.find(({ ret }) => ret !== 0)
      if (refusal !== undefined) throw new NotProvokedError(`needs a site with an MCU: ${refusal.exchange.came}`)
      trial.equal('addresses', new Set(answers.map(({ fields }) => fields.addr)).size, 1)
    },
  },
  {
    id: 'parallel.authenticate',
    sentence: `${calls} authentications at the same time open ${calls} sessions, all of them valid.`,
    source: contract('2'),
    check: async (trial) => {
      const sessions = await settled(many(() => trial.client.signIn(trial.client.form, trial.signal)))
      const tokens = new Set(sessions.map(({ token }) => token))
      trial.equal('tokens', tokens.size, calls)
      await settled([...tokens].map((token) => trial.acceptedToken('get_room', { room_id: trial.id() }, { token })))
    },
  },
  {
    id: 'parallel.create_outgoing_user.duplicate',
    sentence: 'Of five calls at the same time with one userId, one succeeds and the others are refused with 423.',
    source: specification('3'),
    check: async (trial) => {
      const userAddress = await trial.cameras.streaming()
      const roomId = await trial.room()
      const device = { roomId, userId: trial.id(), userName: 'Conformance camera', userAddress }
      const answers = await settled(many(() => trial.call('create_outgoing_user', device), 5))
      const failed = answers.find(({ ret }) => ret === 426 || ret === 427)
      if (failed !== undefined)
        throw new NotProvokedError(`needs a camera that the server can reach: ${failed.exchange.came}`)
      trial.equal('results', countOf(answers), { '0': 1, '423': 4 })
    },
  },
]

function many<T>(make: () => T, count = calls): T[] {
  return Array.from({ length: count }, make)
}

/** Awaits all calls, also after a failure: what they made is known then. */
async function settled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}

/** Counts answers by their code. */
function countOf(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { ret } of answers) counts[String(ret)] = (counts[String(ret)] ?? 0) + 1
  return counts
}
