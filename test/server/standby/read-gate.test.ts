import { expect, onTestFinished, test } from 'vitest'
import { sole } from '../../support/sole-leadership.ts'
import type { Leadership } from '../../../server/store/store.ts'
import { authenticate } from '../../../shared/media-operations.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { createListener } from '../../../server/http/listener.ts'
import { implement } from '../../../server/http/operation.ts'
import { createLog } from '../../../server/observe/log.ts'
import { provenDispatch } from '../../../server/controller/console.ts'
import { quietTime } from '../../support/quiet-time.ts'

test('A leader that may have been replaced answers no reads from memory before it has confirmed its lease; if another leads it says so', async () => {
  let unsure: PromiseWithResolvers<void> | undefined
  let runs = 0
  const confirmed = (): ReturnType<Leadership['confirmed']> => unsure?.promise.then(sole.confirmed) ?? sole.confirmed()
  const leadership = { confirmed }
  const listener = createListener({
    api: 'media',
    operations: implement([authenticate], {
      authenticate: () => {
        runs++
        return { random: 'r', key: 'k' }
      },
    }),
    sessions: { check: () => ({ ok: true, accessKey: 'a' }) },
    settings: defaultSettings,
    observer: { observe: () => {} },
    openApiDocument: () => '{}',
    log: createLog('silent'),
    causes: { of: () => undefined },
    leadership,
  })
  const { url } = await listener.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.stop(0))
  const ask = async (): Promise<unknown> => await (await fetch(`${url}${authenticate.path}`)).json()
  expect(await ask()).toMatchObject({ ret: 0 })
  unsure = Promise.withResolvers()
  const held = ask()
  await expect(Promise.race([held, quietTime(100)])).resolves.toBeUndefined()
  expect(runs).toBe(1)
  unsure.resolve()
  expect(await held).toMatchObject({ ret: 0 })
  expect(runs).toBe(2)
  unsure = Promise.withResolvers()
  unsure.promise.catch(() => undefined)
  unsure.reject(new Error('another controller leads'))
  expect(await ask()).toMatchObject({ ret: 700 })
  expect(runs).toBe(2)
})

test('A console answers no reads from memory once another controller leads: reads of its own callers are forwarded', async () => {
  let leads = false
  const confirmed = async () => {
    if (!leads) throw new Error('another controller leads')
    return sole.confirmed()
  }
  const asked: string[] = []
  const answering = (who: string) => async (name: string) => {
    asked.push(`${who} ${name}`)
    return { ok: true as const, value: {} }
  }
  const dispatch = provenDispatch({ confirmed }, answering('this'), answering('leader'))
  const caller = { transport: 'rpc', client: '', role: 'admin', way: 'key', forLeader: () => ({}) } as const
  const { forLeader: _, ...ofController } = caller
  expect(await dispatch('rooms.list', {}, caller)).toMatchObject({ ok: true })
  // Another controller asks the leader itself, and a change needs the console of the leader.
  const unanswered = { ok: false, error: { code: 'standby', name: 'leaderChanged' } }
  expect(await dispatch('rooms.list', {}, ofController)).toMatchObject(unanswered)
  expect(await dispatch('rooms.delete', {}, caller)).toMatchObject(unanswered)
  expect(await provenDispatch({ confirmed }, answering('this'))('rooms.list', {}, caller)).toMatchObject(unanswered)
  // Reading who leads is always possible.
  expect(await dispatch('controllers.list', {}, caller)).toMatchObject({ ok: true })
  leads = true
  expect(await dispatch('rooms.list', {}, caller)).toMatchObject({ ok: true })
  expect(asked).toEqual(['leader rooms.list', 'this controllers.list', 'this rooms.list'])
})
