import { expect, test } from 'vitest'
import { askOthersBy } from '../../../server/cluster/join-site.ts'
import type { KnownController } from '../../../server/store/election/site-member.ts'

const place = { media: '', device: '', node: '', console: '', event: '', certificate: '' }
const controller = (id: string): KnownController => ({
  ...{ id, name: id, version: '1', place, role: 'standby', behind: 0, behindFor: 0, seenAt: 0, since: 0 },
})

/** Asks controllers that give these proven answers to `GET /healthz`; undefined: silence. */
async function asked(answers: Readonly<Record<string, object | undefined>>) {
  const others = Object.keys(answers).map(controller)
  const ask = askOthersBy(({ id }) => {
    const body = answers[id]
    return Promise.resolve(body === undefined ? undefined : { status: 503, headers: {}, body: JSON.stringify(body) })
  })
  return await ask(others, AbortSignal.timeout(1_000))
}

const away = 'the database cannot be reached'

test('Replicas without the database prove that no controller leads, and report the latest epoch that they know', async () => {
  const answers = { b: { role: 'standby', epoch: '7', store: away }, c: { role: 'standby', epoch: '11', store: away } }
  expect(await asked(answers)).toEqual({ epoch: '11', reachDatabase: false, unproven: false })
})

test('A replica started since then that has read nothing proves nothing: it may have led before', async () => {
  for (const epoch of ['', undefined, 'new'])
    expect(await asked({ b: { role: 'standby', epoch, store: away } })).toEqual({
      reachDatabase: false,
      unproven: true,
    })
})

test('A leader, a replica that reaches the database and one that is silent are distinguished', async () => {
  expect(await asked({ b: { role: 'leader', epoch: '12', store: 'ok' }, c: undefined })).toEqual({
    ...{ leader: { id: 'b', epoch: '12' }, epoch: '12', reachDatabase: false, unproven: true },
  })
  expect(await asked({ b: { role: 'standby', epoch: '12', store: 'ok' } })).toMatchObject({ reachDatabase: true })
})
