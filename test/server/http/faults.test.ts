import { expect, test } from 'vitest'
import { faultRule } from '../../../shared/console/lab.ts'
import { FaultRules } from '../../../server/lab/faults.ts'
import { shared } from '../../support/fixtures.ts'
import { openBench } from '../../support/sites/api-site.ts'

const media = shared(() => openBench('media'))

const rule = (fields: object) => faultRule.parse({ operation: 'get_room', ...fields })
const path = () => `/rtc/room/get?room_id=1&access_token=${encodeURIComponent(media().token)}`
const getRoom = () => media().get(path())

test('a rule answers instead of the operation', async () => {
  const calls = media().calls.length
  media().faults.set([rule({ ret: 700 })])
  expect(await getRoom()).toEqual({ ret: 700, msg: 'A fault rule of the lab gave this answer.' })
  expect(media().calls.length).toBe(calls)
  expect(media().seen.at(-1)).toMatchObject({ operation: 'get_room', ret: 700 })
})

test('a rule delays an answer', async () => {
  media().faults.set([rule({ delay_ms: 120 })])
  const before = performance.now()
  expect((await getRoom()).ret).toBe(0)
  expect(performance.now() - before).toBeGreaterThan(110)
})

test('a rule closes the connection without an answer', async () => {
  media().faults.set([rule({ drop: true })])
  await expect(getRoom()).rejects.toThrow()
})

test('a rule ends after its number of hits', async () => {
  media().faults.set([rule({ ret: 409, times: 2 })])
  const rets = [await getRoom(), await getRoom(), await getRoom()].map(({ ret }) => ret)
  expect(rets).toEqual([409, 409, 0])
  expect(media().faults.list()).toEqual([])
  expect(media().faults.active).toBe(false)
})

test('a rule for every operation applies to this one, a rule for another does not', async () => {
  media().faults.set([rule({ operation: 'create_room', ret: 700 })])
  expect((await getRoom()).ret).toBe(0)
  media().faults.set([rule({ operation: '*', ret: 504 })])
  expect((await media().get('/rtc/auth/valid?access_key=a&digest=b')).ret).toBe(504)
})

test('a rule with a share applies to some of the requests', async () => {
  media().faults.set([rule({ ret: 700, probability: 0 })])
  expect((await getRoom()).ret).toBe(0)
})

test('an answer changed by a rule says so, others do not', async () => {
  const header = async () => (await fetch(`${media().url}${path()}`)).headers.get('x-roomdesk-fault')
  media().faults.set([rule({ ret: 700 })])
  expect(await header()).toBe('get_room')
  media().faults.set([rule({ operation: '*', delay_ms: 1 })])
  expect(await header()).toBe('*')
  media().faults.set([])
  expect(await header()).toBeNull()
})

test('a rule expires after its minutes, and after a day at most', async () => {
  const before = Date.now()
  media().faults.set([rule({ ret: 700, minutes: 2 }), { ...rule({ ret: 409 }), ends_at: before + 1e12 }])
  const [two, day] = media()
    .faults.list()
    .map(({ ends_at }) => Math.round((ends_at - before) / 60_000))
  expect([two, day]).toEqual([2, 24 * 60])

  media().faults.set([{ ...rule({ ret: 700 }), ends_at: Date.now() + 200 }])
  expect((await getRoom()).ret).toBe(700)
  await new Promise<void>((resolve) => {
    const stop = media().faults.onChange(() => {
      stop()
      resolve()
    })
  })
  expect(media().faults.active).toBe(false)
  expect((await getRoom()).ret).toBe(0)
})

test('a listener is decorated only while rules are in force', () => {
  const faults = new FaultRules()
  const decorated: boolean[] = []
  faults.installIn({ decorate: (decorator) => void decorated.push(decorator !== undefined) })
  expect(decorated).toEqual([])
  faults.set([rule({ ret: 700, times: 1 }), rule({ ret: 409, times: 1 })])
  faults.hit('get_room')
  expect(decorated).toEqual([true])
  faults.hit('get_room')
  expect(decorated).toEqual([true, false])
})
