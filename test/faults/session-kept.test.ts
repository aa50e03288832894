import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential } from '../support/sites/controllers-site.ts'

const rounds = 3

test('A client that has just signed in keeps using its token although the leader is killed at once', {
  timeout: 60_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const tokens: string[] = []
  for (let round = 0; round < rounds; round++) {
    const leads = await site.leader()
    // Through the addresses of leader and replica: both give the same guarantee.
    const asked = await Promise.all(
      site.controllers.map(async ({ headless }) => {
        const api = new ApiClient(headless.ready, credential)
        expect(await api.authenticate()).toMatchObject({ ret: 0 })
        return api.token
      }),
    )
    tokens.push(...asked)
    await site.kill(leads)
    const next = await site.leader(leads)
    const api = new ApiClient(next.headless.ready, credential)
    for (const token of tokens)
      expect(await api.get('/rtc/room/get', { room_id: 'none' }, token)).toMatchObject({ ret: 404 })
    await site.restart(leads)
  }
})
