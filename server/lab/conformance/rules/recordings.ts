import { type OperationName, wellFormed } from '../operations.ts'
import { contract, NotProvokedError } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'
import { joined } from './joined-devices.ts'
import { needsOperation } from './tokens.ts'

const byId = ['recording_stop', 'recording_get', 'recording_delete', 'live_stop', 'live_get', 'live_delete'] as const

/** Rules about recordings and live streams, which are beyond the specification. */
export const recordingRules: readonly Rule[] = [
  ...byId.map((name) =>
    extension(name, 'unknown-id', `${name} of an unknown id is refused with 430.`, (trial) =>
      trial.refused(name, wellFormed(name, trial.id()), 'recordingNotFound'),
    ),
  ),
  ...(['recording_start', 'live_start', 'live_link'] as const).map((name) =>
    extension(name, 'unknown-room', `${name} in an unknown room is refused with 404.`, (trial) =>
      trial.refused(name, wellFormed(name, trial.id()), 'roomNotFound'),
    ),
  ),
  ...(['live_start', 'live_link'] as const).map((name) =>
    extension(name, 'nobody', `${name} of a user who is not in the room is refused with 429.`, async (trial) =>
      trial.refused(name, { ...wellFormed(name, trial.id()), room_id: await trial.room() }, 'userNotOnline'),
    ),
  ),
  ...(['recording_list', 'live_list'] as const).map((name) =>
    extension(name, 'empty', `${name} of a room without any answers with total 0 and no items.`, async (trial) => {
      trial.equal('answer', await trial.succeed(name, { room_id: trial.id() }), { total: 0, items: [] })
    }),
  ),
  extension(
    'recording_start',
    'success',
    'A recording starts, is listed and read, stops, and is gone once deleted.',
    async (trial) => {
      const room_id = await trial.room()
      const params = { room_id, name: 'Conformance', tag: 'conformance', sound: 'room' }
      const answer = await trial.call('recording_start', params)
      if (answer.ret === 431) throw new NotProvokedError(`needs a site that can record: ${answer.exchange.came}`)
      const { id, ...started } = trial.succeeded('recording_start', answer)
      trial.equal(
        'started',
        [started.room_id, started.name, started.tag, started.sound],
        [room_id, 'Conformance', 'conformance', 'room'],
      )
      trial.equal('id', (await trial.succeed('recording_get', { id })).id, id)
      const { total, items } = await trial.succeed('recording_list', { room_id })
      trial.equal('list', [total, items.map((item) => item.id)], [1, [id]])
      const stopped = await trial.succeed('recording_stop', { id })
      trial.holds(stopped.ended_at >= started.created_at, 'an end after its start', `${stopped.ended_at}`)
      // Not an error: what was to end has ended.
      trial.equal('id', (await trial.succeed('recording_stop', { id })).id, id)
      trial.equal('id', (await trial.succeed('recording_delete', { id })).id, id)
      await trial.refused('recording_get', { id }, 'recordingNotFound')
    },
  ),
  extension(
    'live_start',
    'success',
    'A live stream of a device starts, is listed and read, stops, and is gone once deleted.',
    async (trial) => {
      const { roomId: room_id, userId: user_id } = await joined(trial)
      const answer = await trial.call('live_start', { room_id, user_id, name: 'Conformance' })
      if (answer.ret === 431) throw new NotProvokedError(`needs a site that can record: ${answer.exchange.came}`)
      const { id, ...started } = trial.succeeded('live_start', answer)
      trial.client.secrets.add(started.page_url, started.hls_url)
      trial.equal('started', [started.room_id, started.user_id, started.name], [room_id, user_id, 'Conformance'])
      trial.holds(URL.canParse(started.hls_url) && URL.canParse(started.page_url), 'two URLs', 'something else')
      trial.equal('id', (await trial.succeed('live_get', { id })).id, id)
      const { total, items } = await trial.succeed('live_list', { room_id })
      trial.equal('list', [total, items.map((item) => item.id)], [1, [id]])
      trial.equal('id', (await trial.succeed('live_stop', { id })).id, id)
      trial.equal('id', (await trial.succeed('live_delete', { id })).id, id)
      await trial.refused('live_get', { id }, 'recordingNotFound')
    },
  ),
  extension(
    'live_link',
    'success',
    'live_link answers with two addresses and their expiry, ttl seconds from now.',
    async (trial) => {
      const { roomId: room_id, userId: user_id } = await joined(trial)
      const answer = await trial.call('live_link', { room_id, user_id, ttl: 600 })
      if (answer.ret === 431) throw new NotProvokedError(`needs a site that can stream: ${answer.exchange.came}`)
      const { page_url, hls_url, expires_at } = trial.succeeded('live_link', answer)
      trial.client.secrets.add(page_url, hls_url)
      trial.holds(URL.canParse(page_url) && URL.canParse(hls_url), 'two URLs', 'something else')
      const left = Math.round((expires_at - Date.now()) / 1_000)
      trial.holds(Math.abs(left - 600) < 120, 'an expiry 600 s from now', `${left} s`)
    },
  ),
]

function extension(name: OperationName, kind: string, sentence: string, check: (trial: Trial) => Promise<void>): Rule {
  return {
    id: `${name}.${kind}`,
    sentence,
    source: contract('3'),
    check: async (trial) => {
      await needsOperation(trial, name)
      await check(trial)
    },
  }
}
