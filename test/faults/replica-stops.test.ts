import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential } from '../support/sites/controllers-site.ts'

test('A replica that is stopped while clients read through it answers each call as the leader did, or ends its connection', {
  timeout: 60_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const leads = await site.leader()
  const follows = site.controllers.find((one) => one !== leads)
  if (follows === undefined) throw new Error('Nobody stands by.')
  const api = new ApiClient(follows.headless.ready, credential)
  expect(await api.authenticate()).toMatchObject({ ret: 0 })
  const room = await api.createRoom()
  const answers: unknown[] = []
  let isOver = false
  const reads = Array.from({ length: 30 }, async () => {
    while (!isOver) {
      const answer = await api.get('/rtc/room/get', { room_id: room }).catch(() => undefined)
      if (answer === undefined) return
      answers.push(answer.ret)
    }
  })
  await expect.poll(() => answers.length).toBeGreaterThan(300)
  await follows.headless.stop('SIGTERM')
  isOver = true
  await Promise.all(reads)
  expect(new Set(answers)).toEqual(new Set([0]))
})
