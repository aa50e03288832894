import { expect, test, vi } from 'vitest'
import type { OthersAnswers } from '../../../../server/store/election/membership.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, topics } from '../../../support/sites/store-site.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()

test('A leader that missed its successor reads nothing from its old memory after the successor became a replica again, while neither reaches the database', async () => {
  const site = await siteOfControllers(await postgres())
  // While its connection is silent, it is not answered by the other either.
  let answers: OthersAnswers = { reachDatabase: false, unproven: true }
  const first = await site.controller('first', { deadlineMs: () => 1_500, askOthers: () => Promise.resolve(answers) })
  const led = await first.lead()
  await createRoom(led, 'of the first')
  const second = await site.controller('second')
  expect(second.member.knownTerms.epoch).toBe(led.epoch)
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(2))
  const next = second.lead()
  first.proxy.freeze(true)
  const store = await next
  await createRoom(store, 'of the second')
  // A cut database for both, and the second is a replica again.
  for (const { proxy } of [first, second]) {
    proxy.closed = true
    proxy.cut()
  }
  await second.close()
  const again = await site.controller('second', {
    database: (way) => {
      way.closed = true
      return site.server.address(site.schema, way.host)
    },
    whenAway: 'wait',
    before: second.member,
  })
  const { epoch } = again.member.knownTerms
  expect(epoch).toBe(store.epoch)
  answers = { epoch, reachDatabase: false, unproven: false }
  expect(Object.keys(topics(led))).toEqual(['of the first'])
  await expect(led.confirmed()).rejects.toMatchObject({ code: 'storage' })
}, 30_000)
