import { expect, test } from 'vitest'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => openControllerSite({ nodes: [{ name: 'lab', kind: 'simulated' }] }))
const key = shared(() => site().key())

interface Refused {
  code: string
  message: string
  name: string
  values: Record<string, unknown>
  problems?: { path: string; name: string; values: Record<string, unknown> }[]
}

const post = async (name: string, body: unknown): Promise<Refused> => {
  const answer = await site().ask('POST', `/rpc/${name}`, { headers: { authorization: `Bearer ${key()}` }, body })
  return (answer.body as { error: Refused }).error
}

test('A refusal has a name and values, which a page turns into a sentence', async () => {
  const room = { topic: 'Morning', room_extend_id: 'morning' }
  await site().call(key(), 'rooms.create', room)
  expect(await post('rooms.create', room)).toMatchObject({
    name: 'roomExists',
    values: {},
    problems: [{ path: 'room_extend_id', name: 'roomExists' }],
  })
  expect(await post('nodes.add', { name: 'lab', kind: 'simulated' })).toMatchObject({
    ...{ code: 'conflict', name: 'nodeExists', values: { name: 'lab' } },
    message: 'A node named lab exists already.',
  })
  expect(await post('devices.parse_address', { address: 'http://cam' })).toMatchObject({
    name: 'inputInvalid',
    problems: [{ name: 'addressScheme' }],
  })
  expect(await post('nodes.add', { name: 'a', kind: 'simulated', weight: 1_000, more: 1 })).toMatchObject({
    name: 'inputInvalid',
    values: { field: 'weight' },
    problems: [
      { path: 'weight', name: 'atMost', values: { max: '100' } },
      { path: 'more', name: 'unknownField' },
    ],
  })
  const { failed } = await site().call(key(), 'rooms.lock', { room_ids: ['000000000'] })
  expect(failed).toMatchObject([{ key: '000000000', name: 'roomNotFound' }])
})

test('Every refusal of a procedure has a name that GET /rpc lists', async () => {
  const { body } = await site().ask('GET', '/rpc', { headers: { authorization: `Bearer ${key()}` } })
  const listed = body as Record<'errors' | 'problems', { name: string }[]>
  const errors = new Set(listed.errors.map(({ name }) => name))
  const problems = new Set([...listed.errors, ...listed.problems].map(({ name }) => name))
  for (const procedure of Object.keys(procedures) as ProcedureName[]) {
    const error = await post(procedure, { nonsense: true })
    expect([procedure, errors.has(error.name)]).toEqual([procedure, true])
    for (const problem of error.problems ?? [])
      expect([procedure, problem.path, problems.has(problem.name)]).toEqual([procedure, problem.path, true])
  }
  expect(await post('no.such', {})).toMatchObject({ name: 'procedureNotFound' })
})
