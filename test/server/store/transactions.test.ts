import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../shared/result-codes.ts'
import { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import type { Change } from '../../../server/store/store.ts'
import { drivers } from './drivers.ts'
import { createRoom, credential, room, session, topics } from '../../support/sites/store-site.ts'

describe.each(drivers())('In $name', (driver) => {
  test('Acknowledged changes are there after a crash and after an orderly restart, in the same order', async () => {
    const site = await driver.site()
    const store = await site.open()
    for (const id of ['c', 'a', 'b']) await createRoom(store, id, `Topic ${id}`)
    await store.transact([], (transaction) => {
      transaction.delete('rooms', 'a')
      transaction.put('credentials', 'demo_access', credential('demo_access'))
    })
    const crashed = await (await site.crashed()).open()
    expect(Object.entries(topics(crashed))).toEqual([
      ['c', 'Topic c'],
      ['b', 'Topic b'],
    ])
    expect(crashed.status().notices).toEqual([])
    await crashed.close()
    await store.close()
    const again = await site.open()
    expect(Object.keys(topics(again))).toEqual(['c', 'b'])
    expect(again.get('credentials', 'demo_access')?.label).toBe('demo_access')
    await again.close()
  })

  test('A change is visible only when it is durable', async () => {
    const store = await (await driver.site()).open()
    const done = createRoom(store, '1')
    expect(store.get('rooms', '1')).toBeUndefined()
    await done
    expect(store.get('rooms', '1')?.id).toBe(1)
    await store.close()
  })

  test('Concurrent changes share a flush', async () => {
    const store = await (await driver.site()).open()
    let flushes = 0
    store.onFlush(() => flushes++)
    await Promise.all(Array.from({ length: 100 }, (_, i) => createRoom(store, String(i))))
    expect(store.all('rooms').size).toBe(100)
    expect(flushes).toBe(1)
    await store.close()
  })

  test('A plan that throws, or changes nothing, leaves memory and disk unchanged and frees its locks', async () => {
    const site = await driver.site()
    const store = await site.open()
    await createRoom(store, '1')
    const before = store.status().journalBytes
    const refused = store.transact(['rooms/1'], (transaction) => {
      transaction.delete('rooms', '1')
      throw new ApiError('roomClosed')
    })
    await expect(refused).rejects.toMatchObject({ code: 'roomClosed' })
    expect(await store.transact(['rooms/1'], () => 'looked only')).toBe('looked only')
    expect(store.get('rooms', '1')).toBeDefined()
    expect(store.status().journalBytes).toBe(before)
    await store.close()
  })

  test('A lock makes a thousand increments count, and other changes do not wait for it', async () => {
    const store = await (await driver.site()).open()
    await createRoom(store, 'counter', '0')
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 300 }, async (_, i) => {
        await store.transact(['rooms/counter', `other/${i}`, 'rooms/counter'], (transaction) => {
          const counter = store.get('rooms', 'counter')
          if (counter === undefined) throw new ApiError('roomNotFound')
          transaction.put('rooms', 'counter', { ...counter, topic: String(Number(counter.topic) + 1) })
        })
        order.push(i)
      }),
    )
    expect(store.get('rooms', 'counter')?.topic).toBe('300')
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    await store.close()
  })

  test('Ten thousand refused changes on one lock end one after another', async () => {
    const store = await (await driver.site()).open()
    const held = createRoom(store, '1')
    const waiting = Array.from({ length: 10_000 }, () =>
      store.transact(['rooms/1'], () => {
        throw new ApiError('roomClosed')
      }),
    )
    await held
    expect((await Promise.allSettled(waiting)).every((result) => result.status === 'rejected')).toBe(true)
    await store.close()
  })

  test('Listeners receive every durable change once, in order; one that throws affects nobody', async () => {
    const store = await (await driver.site()).open()
    const heard: string[] = []
    store.onChange(() => {
      throw new Error('a listener with a bug')
    })
    const stop = store.onChange((changes: readonly Change[]) => {
      for (const { collection, key, value } of changes)
        heard.push(`${value === undefined ? '-' : '+'}${collection}/${key}`)
    })
    await createRoom(store, '1')
    store.writeBehind('sessions', 'token', session())
    await store.transact([], (transaction) => {
      transaction.delete('rooms', '1')
      transaction.delete('sessions', 'token')
    })
    expect(heard).toEqual(['+rooms/1', '+sessions/token', '-rooms/1', '-sessions/token'])
    stop()
    await createRoom(store, '2')
    expect(heard).toHaveLength(4)
    await store.close()
  })

  test('Room numbers are never reused, not even those of deleted rooms, through any damage of the files', async () => {
    const site = await driver.site()
    let last = 0
    for (let round = 0; round < 4; round++) {
      const store = await site.open()
      const number = store.nextRoomNumber()
      expect(number).toBeGreaterThan(last)
      last = number
      await store.transact([], (transaction) => transaction.put('rooms', 'r', room('r', number)))
      if (round === 1) await store.backups.make()
      await store.transact([], (transaction) => transaction.delete('rooms', 'r'))
      if (round === 2) await store.backups.make()
      await store.close()
    }
  })

  test('A change written behind is in memory at once and on disk within a second', async () => {
    const site = await driver.site()
    const store = await site.open()
    store.writeBehind('sessions', 'lasting', session(1))
    store.writeBehind('sessions', 'lasting', session(2))
    store.writeBehind('sessions', 'brief', session())
    store.writeBehind('sessions', 'brief', undefined)
    expect(store.get('sessions', 'lasting')?.used_at).toBe(2)
    expect(store.get('sessions', 'brief')).toBeUndefined()
    const flushed = new Promise((resolve) => store.onFlush(resolve))
    await flushed
    const journal = await site.journal()
    expect(journal.match(/lasting/g)).toHaveLength(1)
    expect(journal).not.toContain('brief')
    const crashed = await (await site.crashed()).open()
    expect(crashed.get('sessions', 'lasting')?.used_at).toBe(2)
    await crashed.close()
    await store.close()
  })

  test('Closing writes the changes still pending behind', async () => {
    const site = await driver.site()
    const store = await site.open()
    for (let i = 0; i < 2_000; i++) store.writeBehind('sessions', `token-${i}`, session(i))
    await store.close()
    await store.close()
    const again = await site.open()
    expect(again.all('sessions').size).toBe(2_000)
    await again.close()
  })

  test('A session that a transaction ended stays ended, even if it was used meanwhile', async () => {
    const site = await driver.site()
    const store = await site.open()
    store.writeBehind('sessions', 'token', session(1))
    const ended = store.transact([], (transaction) => transaction.delete('sessions', 'token'))
    store.writeBehind('sessions', 'token', session(2))
    await ended
    expect(store.get('sessions', 'token')).toBeUndefined()
    await store.close()
    const again = await site.open()
    expect(again.get('sessions', 'token')).toBeUndefined()
    await again.close()
  })

  test('Hostile keys are ordinary keys', async () => {
    const site = await driver.site()
    const store = await site.open()
    const keys = ['__proto__', 'constructor', 'toString', '', '\u0000\n"\\', '\ud800', '会议室 😀', 'x'.repeat(1000)]
    for (const key of keys) await createRoom(store, key, key)
    await store.backups.make()
    await createRoom(store, 'after', '__proto__')
    const crashed = await (await site.crashed()).open()
    // A lone surrogate is no valid text: JSON escapes it, so it survives too.
    expect([...crashed.all('rooms').keys()]).toEqual([...keys, 'after'])
    expect(crashed.get('rooms', 'hasOwnProperty')).toBeUndefined()
    expect({}).not.toHaveProperty('topic')
    await crashed.close()
    await store.close()
  })

  test('A disk that does not answer: changes fail at the deadline and are not applied, and all works when it is back', async () => {
    const site = await driver.site()
    let deadline = 200
    const stuckDisk = new StuckDisk()
    const store = await site.open({ deadlineMs: () => deadline, flushGate: stuckDisk })
    expect(store.responsive(5_000)).toBeUndefined()
    stuckDisk.begin(10)
    const started = performance.now()
    const first = createRoom(store, '2')
    const behindIt = store.transact(['rooms/2'], () => undefined)
    const stuck = store.responsive(150)
    expect(store.status().flushingFor).toBeGreaterThan(0)
    await expect(stuck).rejects.toMatchObject({ code: 'storage' })
    await expect(first).rejects.toMatchObject({ code: 'storage' })
    await expect(behindIt).resolves.toBeUndefined()
    expect(performance.now() - started).toBeLessThan(5_000)
    await expect(store.responsive(1)).rejects.toMatchObject({ code: 'storage' })
    const patient = store.responsive(10_000)
    await delay(10)
    deadline = 60_000
    stuckDisk.end()
    await patient
    await createRoom(store, '3')
    expect(Object.keys(topics(store))).toEqual(['3'])
    await store.close()
    const again = await site.open()
    expect(Object.keys(topics(again))).toEqual(['3'])
    await again.close()
  })

  test('Concurrent changes under different locks do not exceed a limit together, and one that ends makes room', async () => {
    const store = await (await driver.site()).open()
    await store.transact(['licence'], (transaction) =>
      transaction.put('licence', 'site', { expires_at: '', max_rooms: 3, max_users: 0 }),
    )
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => createRoom(store, `r${i}`)))
    expect(outcomes.map(({ status }) => status).slice(0, 4)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ])
    expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'licenceExceeded' } })
    expect(store.all('rooms').size).toBe(3)
    // What one transaction deletes makes room for what it adds.
    await store.transact(['swap'], (transaction) => {
      transaction.delete('rooms', 'r0')
      transaction.put('rooms', 'r9', room('r9', store.nextRoomNumber()))
    })
    await store.transact(['update'], (transaction) => transaction.put('rooms', 'r9', room('r9', 99, 'changed')))
    await expect(createRoom(store, 'r10')).rejects.toMatchObject({ code: 'licenceExceeded' })
    await store.transact(['delete'], (transaction) => transaction.delete('rooms', 'r1'))
    // A plan that fails after its put gives its place back.
    await expect(
      store.transact(['fails'], (transaction) => {
        transaction.put('rooms', 'r11', room('r11', 98))
        throw new Error('refused')
      }),
    ).rejects.toThrow('refused')
    await createRoom(store, 'r12')
    await store.close()
  })

  test('A closed store refuses changes', async () => {
    const store = await (await driver.site()).open()
    await store.close()
    await expect(createRoom(store, '1')).rejects.toMatchObject({ code: 'storage' })
  })

  test('Rewriting the files during changes loses nothing, and the journal is truncated', async () => {
    const site = await driver.site()
    const store = await site.open({ snapshotAfterBytes: 100_000 })
    const acknowledged = new Map<string, string>()
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; i < 400; i++) {
          const key = String((i * 7 + worker) % 500)
          await store.transact([key], (transaction) => {
            if (i % 5 === 4) transaction.delete('rooms', key)
            else transaction.put('rooms', key, room(key, store.nextRoomNumber(), `${worker}-${i}`))
            return undefined
          })
          if (worker === 0 && i % 100 === 50) await store.backups.make()
        }
      }),
    )
    for (const [key, { topic }] of store.all('rooms')) acknowledged.set(key, topic)
    const crashed = await (await site.crashed()).open()
    expect(store.status().journalBytes).toBeLessThan(600_000)
    expect([...crashed.all('rooms')].map(([key, { topic }]) => [key, topic])).toEqual([...acknowledged])
    await crashed.close()
    await store.close()
  })

  test('Listeners that throw are logged in full, and neither the writing nor the other listeners stop', async () => {
    const errors: unknown[] = []
    const silent = (): void => undefined
    const logger = { info: silent, warn: silent, error: (details: object) => void errors.push(details) }
    const site = await driver.site()
    const store = await site.open({ logger })
    const told: string[] = []
    const broken = new Error('nobody foresaw this')
    const fail = (): never => {
      throw broken
    }
    store.onChange(fail)
    store.onFlush(fail)
    store.notices.listen(fail)
    store.onChange(() => void told.push('change'))
    store.onFlush(() => void told.push('flush'))
    store.notices.listen(() => void told.push('notice'))
    await createRoom(store, '1')
    await createRoom(store, '2')
    await store.restore.run((await store.backups.make()).name)
    expect(topics(store)).toHaveProperty('2')
    expect(new Set(told)).toEqual(new Set(['change', 'flush', 'notice']))
    expect(errors).toContainEqual({ err: broken })
    await store.close()
  })
})
