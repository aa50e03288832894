import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JanusSite } from '../support/sites/janus-site.ts'

/** Beyond the ten seconds that somebody has to come back. */
const slow = { timeout: 20_000 }

describe('Users of the Janus API whose connection is lost', () => {
  let site: JanusSite
  beforeAll(async () => {
    site = await JanusSite.start({ tokenSecret: 'of tokens', adminKey: 'of rooms', events: true })
  })
  afterAll(() => site[Symbol.asyncDispose]())

  test('they leave the list soon, although Janus keeps their session for a minute; they may return', async () => {
    await site.room('300000001')
    const ann = await site.enter('300000001', 'ann')
    await using bo = await site.enter('300000001', 'bo')
    await expect.poll(() => site.users('300000001')).toEqual(['ann', 'bo'])
    ann.cutOff()
    await expect.poll(() => site.users('300000001'), slow).toEqual(['bo'])
    await using back = await site.enter('300000001', 'ann')
    await expect.poll(() => site.users('300000001')).toEqual(['bo', 'ann'])
    expect([back.heard, bo.heard].flat().filter(({ reason }) => reason !== undefined)).toEqual([])
  })

  test('a user who claims the session over another connection stays', async () => {
    await site.room('300000002')
    const ann = await site.enter('300000002', 'ann')
    await expect.poll(() => site.users('300000002')).toEqual(['ann'])
    ann.cutOff()
    await using again = await ann.claimed(site.janus.wsUrl, (await site.tickets('300000002', 'ann')).token)
    await new Promise((resolve) => setTimeout(resolve, 14_000))
    expect(site.users('300000002')).toEqual(['ann'])
    expect(again.session.id).toBe(ann.session.id)
  })
})
