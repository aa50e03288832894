import { expect, test } from 'vitest'
import { operationsOfOlderClients } from '../../../shared/field-operations.ts'
import { allOperations } from '../../../shared/operations.ts'
import { RequestJournal } from '../../../server/observe/request-journal.ts'
import { canaryOf, sampleAnswer } from '../../support/sample-answer.ts'
import { observation } from './observation.ts'

const contracts = [...allOperations, ...operationsOfOlderClients.media, ...operationsOfOlderClients.device]

/** Texts of answers that the journal shows as they are: names of the site's own rooms and users, and addresses without a token. */
const shown: Readonly<Record<string, readonly string[]>> = {
  create_room: ['room_id'],
  get_room: ['room_id', 'room_extend_id'],
  get_room_by_extend_id: ['room_id', 'room_extend_id'],
  update_room: ['room_id'],
  delete_room: ['room_id'],
  get_mcu: ['addr'],
  list_users: ['user_list.user_id'],
  get_user_number: ['user_count_list.room_id'],
  force_offline: ['msg'],
  create_outgoing_user: ['data.roomId', 'data.userId'],
  destroy_outgoing_user: ['data.roomId', 'data.userId'],
  list_outgoing_users: ['data.items.roomId', 'data.items.userId', 'data.items.room_id', 'data.items.user_id'],
  server_info: ['room_server.uri', 'room_server.protocol', 'ice_servers.url', 'rest_uri'],
  recording_start: ['room_id', 'user_id', 'files.user_id'],
  recording_stop: ['room_id', 'user_id', 'files.user_id'],
  recording_get: ['room_id', 'user_id', 'files.user_id'],
  recording_list: ['items.room_id', 'items.user_id', 'items.files.user_id'],
  live_start: ['room_id', 'user_id'],
  live_stop: ['room_id', 'user_id'],
  live_get: ['room_id', 'user_id'],
  live_list: ['items.room_id', 'items.user_id'],
  stop_record: ['data.roomId'],
  get_record: ['data.roomId', 'data.userId'],
  find_records: ['data.items.roomId', 'data.items.userId'],
  create_user_live: ['data.roomId'],
  stop_live: ['data.roomId'],
  get_live: ['data.roomId', 'data.userId'],
  find_lives: ['data.items.roomId', 'data.items.userId'],
}

test.each(contracts)('The journal shows only harmless fields of an answer of $path', (contract) => {
  const journal = new RequestJournal({
    capacity: () => 10,
    known: { credential: () => false, room: () => false, user: () => false },
  })
  const answer = JSON.stringify({ ret: 0, ...Object(sampleAnswer(contract.success)) })
  const canaries = [...answer.matchAll(/Canary~([^~]*)~secret/g)].map(([, path = '']) => path)
  journal.observe(observation({ operation: contract.name, text: answer, forOlderClients: true }))
  const [entry] = journal.list({ search: '', limit: 1 }).items
  expect(entry?.answer).toContain('"ret":0')
  const visible = canaries.filter((path) => journal.export({ search: '' }).includes(canaryOf(path)))
  const allowed = shown[contract.name] ?? []
  expect(visible.filter((path) => !allowed.includes(path))).toEqual([])
  expect(canaries.filter((path) => allowed.includes(path) && !visible.includes(path))).toEqual([])
})
