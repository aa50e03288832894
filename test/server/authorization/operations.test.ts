import { expect, test } from 'vitest'
import { rightOf } from '../../../shared/authorization/api-pages.ts'
import { deviceOperations } from '../../../shared/device-operations.ts'
import { operationsOfOlderClients } from '../../../shared/field-operations.ts'
import { mediaOperations } from '../../../shared/media-operations.ts'
import { allOperations } from '../../../shared/operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { implement } from '../../../server/http/operation.ts'
import { ApiClient, type Answer } from '../../support/api-client.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { shared } from '../../support/fixtures.ts'

const keys = ['lobby', 'other', 'ended', 'disabled'] as const
const secretOf = (access_key: string): string => `the secret of ${access_key}`
const urls = { media: '', device: '' }
/** Tokens, valid and invalid. */
const tokens: { kind: string; token: string; good: boolean }[] = []

shared(async () => {
  const site = await openControllerSite({
    credentials: keys.map((access_key) => ({ access_key, secret_key: secretOf(access_key) })),
    nodes: [{ name: 'lab', kind: 'simulated' }],
    settings: { compatibility: { older_clients: true, get_access_token: true } },
  })
  const key = await site.key()
  for (const { name, url } of (await site.call(key, 'overview.get', {})).listeners)
    if (name === 'media' || name === 'device') urls[name] = url
  for (const access_key of keys) {
    const client = new ApiClient(urls, { access_key, secret_key: secretOf(access_key) })
    await client.authenticate()
    tokens.push({ kind: access_key, token: client.token, good: access_key === 'lobby' || access_key === 'other' })
  }
  await site.call(key, 'credentials.end_sessions', { access_key: 'ended' })
  await site.call(key, 'credentials.update', { access_key: 'disabled', enabled: false })
  tokens.push({ kind: 'none', token: '', good: false }, { kind: 'made up', token: 'bWFkZSB1cA==', good: false })
  return site
})

const room = { room_id: 'none' }
const order = { id: '1' }
const device = { roomId: 'none', userId: 'cam', userAddress: 'rtsp://192.0.2.1/cam' }
/** Valid parameters of each operation: they are checked before the token. */
const parameters: Readonly<Record<string, Record<string, string>>> = {
  authenticate: { access_key: 'lobby', digest: 'made up' },
  get_access_token: { accessKey: 'lobby', secretKey: 'made up' },
  create_room: { topic: 'Morning', owner_id: 'ann', room_mode: '1' },
  get_room: room,
  get_room_by_extend_id: { room_extend_id: 'none' },
  update_room: room,
  delete_room: room,
  get_mcu: room,
  list_users: room,
  get_user_number: room,
  force_offline: { ...room, user_id: 'ann' },
  join_url: { ...room, user_id: 'ann', user_name: 'Ann' },
  server_info: {},
  create_outgoing_user: { ...device, userName: 'Camera' },
  destroy_outgoing_user: device,
  list_outgoing_users: {},
  recording_start: room,
  recording_stop: order,
  recording_get: order,
  recording_list: {},
  recording_link: { ...room, user_id: 'ann', from: '1000', to: '2000' },
  recording_delete: order,
  live_start: { ...room, user_id: 'ann' },
  live_stop: order,
  live_get: order,
  live_list: {},
  live_delete: order,
  live_link: { ...room, user_id: 'ann' },
  create_user_record: device,
  stop_record: order,
  get_record: order,
  find_records: {},
  delete_record: order,
  create_user_live: device,
  stop_live: order,
  get_live: order,
  find_lives: {},
  delete_live: order,
}

/** Each operation on each port that serves it. */
const served: { port: 'media' | 'device'; contract: OperationContract }[] = [
  ...[...mediaOperations, ...operationsOfOlderClients.media].map((contract) => ({ port: 'media' as const, contract })),
  ...[...deviceOperations, ...operationsOfOlderClients.device].map((contract) => ({
    port: 'device' as const,
    contract,
  })),
]

test('Every operation of both APIs, including those for older clients, admits the callers that its contract names', {
  timeout: 120_000,
}, async () => {
  expect(new Set(served.map(({ contract }) => contract.name))).toEqual(new Set(allOperations.map(({ name }) => name)))
  for (const { port, contract } of served) {
    const given = parameters[contract.name]
    if (given === undefined) throw new Error(`say with which parameters ${contract.name} is called`)
    const refused = contract.api === 'media' ? (rightOf(contract) === 'session' ? 602 : 401) : 401
    for (const method of contract.methods) {
      for (const { kind, token, good } of tokens) {
        const shown = token === '' ? {} : { [contract.token?.[0] ?? 'access_token']: token }
        const query = new URLSearchParams({ ...given, ...shown })
        const answer = await fetch(`${urls[port]}${contract.path}?${query.toString()}`, { method })
        const { ret } = (await answer.json()) as Answer
        // A token does not replace a key pair, and this one is invalid.
        const allowed = rightOf(contract) === 'session' && good
        expect([port, method, contract.name, kind, ret === refused]).toEqual([
          ...[port, method, contract.name, kind],
          !allowed,
        ])
      }
    }
  }
})

test('An operation without an implementation, and an implementation without an operation, do not compile', () => {
  const run = (): never => {
    throw new Error('It is not called.')
  }
  const handlers = { create_outgoing_user: run, destroy_outgoing_user: run, list_outgoing_users: run }
  expect(implement(deviceOperations, handlers).map(({ contract }) => contract)).toEqual(deviceOperations)
  // @ts-expect-error: list_outgoing_users is missing.
  implement(deviceOperations, { create_outgoing_user: run, destroy_outgoing_user: run })
  // @ts-expect-error: no operation has this name.
  implement(deviceOperations, { ...handlers, ring_outgoing_user: run })
  // @ts-expect-error: an answer without the fields of the contract.
  implement(deviceOperations, { ...handlers, list_outgoing_users: () => ({ data: {} }) })
})
