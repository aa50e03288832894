import { expect, onTestFinished, test, vi } from 'vitest'
import { DueRooms } from '../../../server/rooms/due-rooms.ts'
import { ScheduledRooms } from '../../../server/rooms/scheduled-rooms.ts'
import { isShut } from '../../../server/schedule/room-hours.ts'
import { roomScheduleSchema } from '../../../shared/schedule/room-schedule.ts'
import type { Store } from '../../../server/store/store.ts'
import { storedRoom } from '../../support/stored-records.ts'
import { temporaryStore } from '../../support/sites/store-site.ts'

const at = (time: string): number => Date.parse(`2026-11-25T${time}Z`)
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A store with a room that meets from 09:00 to 10:00 each day, and the people in it. */
async function site() {
  const { store } = await temporaryStore()
  const people = { count: 0 }
  const told: string[] = []
  const left: ((event: { type: 'left'; roomId: string }) => void)[] = []
  const schedule = roomScheduleSchema.parse({
    start: '2026-11-20T09:00',
    minutes: 60,
    zone: 'UTC',
    rule: 'FREQ=DAILY',
    overrun_minutes: 20,
  })
  await store.transact(['rooms/board'], (transaction) =>
    transaction.put('rooms', 'board', { ...storedRoom('board'), schedule }),
  )
  const pool = {
    presence: { peopleIn: () => people.count },
    nodes: { asked: () => undefined },
    events: {
      subscribe(listener: (event: never) => void) {
        left.push(listener as (typeof left)[number])
        return () => {}
      },
    },
  }
  let leader = ''
  store.onChange((changes) => {
    for (const { collection, value } of changes)
      if (collection === 'pending_events' && value !== undefined)
        told.push(`${leader} ${value.kind === 'room.openedBySchedule' ? 'open' : 'ended'}`)
  })
  const lead = (name: string): ScheduledRooms => {
    leader = name
    const scheduled = new ScheduledRooms({ store, ...pool, logger })
    scheduled.start()
    onTestFinished(() => scheduled.stop())
    return scheduled
  }
  const leave = (): void => {
    people.count = 0
    for (const listener of left) listener({ type: 'left', roomId: 'board' })
  }
  const shut = (): boolean => isShut(store.get('rooms', 'board') ?? { closed: true })
  return { store, people, told, lead, leave, shut }
}

/** Lets the clock run, with what waits for it. */
async function until(store: Store, time: string): Promise<void> {
  await vi.advanceTimersByTimeAsync(at(time) - Date.now())
  await settled(store)
}
/** Waits for the changes of the room that are under way: they are written to real files. */
async function settled(store: Store): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    await store.transact(['rooms/board'], () => {})
  }
}
function clock(time: string): void {
  vi.useFakeTimers({ now: at(time), toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('a meeting overruns its end while somebody is in the room, but not for ever', async () => {
  const { store, people, told, lead, leave, shut } = await site()
  clock('08:00')
  lead('one')
  await until(store, '08:56')
  people.count = 2
  await until(store, '10:05')
  expect([told, shut()]).toEqual([['one open'], false])
  leave()
  await until(store, '10:06')
  expect([told.slice(1), shut()]).toEqual([['one ended'], true])

  vi.setSystemTime(at('08:00') + 86_400_000)
  await vi.advanceTimersByTimeAsync(60 * 60_000)
  await settled(store)
  people.count = 1
  await vi.advanceTimersByTimeAsync(90 * 60_000)
  await settled(store)
  expect(told.slice(2)).toEqual(['one open', 'one ended'])
})

test('an empty room closes at the end of its meeting', async () => {
  const { store, told, lead, shut } = await site()
  clock('09:30')
  lead('one')
  await settled(store)
  await until(store, '10:01')
  expect([told, shut()]).toEqual([['one open', 'one ended'], true])
})

test('the next leader misses nothing, repeats nothing, and closes no meeting that overruns', async () => {
  const { store, people, told, lead, leave, shut } = await site()
  clock('08:00')
  const first = lead('one')
  await until(store, '08:50')
  first.stop()
  // Nobody leads at the start.
  vi.setSystemTime(at('09:10'))
  const second = lead('two')
  await settled(store)
  people.count = 1
  second.stop()
  vi.setSystemTime(at('10:10'))
  people.count = 0
  const third = lead('three')
  await vi.advanceTimersByTimeAsync(1_000)
  // Its nodes have said who is where.
  people.count = 1
  await until(store, '10:11')
  expect([told, shut()]).toEqual([['two open'], false])
  third.stop()
  lead('four')
  leave()
  await until(store, '10:12')
  expect([told.slice(1), shut()]).toEqual([['four ended'], true])
})

test('a clock that is set back opens the meeting again', async () => {
  const { store, told, lead, shut } = await site()
  clock('09:59')
  lead('one')
  await settled(store)
  await until(store, '10:01')
  expect(shut()).toBe(true)
  vi.setSystemTime(at('09:30'))
  expect(shut()).toBe(false)
  await vi.advanceTimersByTimeAsync(20_000)
  await settled(store)
  expect(told).toEqual(['one open', 'one ended', 'one open'])
})

test('the next due rooms are found without sorting all', () => {
  const due = new DueRooms()
  const times = Array.from({ length: 1_000 }, (_, n) => (n * 7_919) % 1_000)
  for (const [n, time] of times.entries()) due.set(`room-${n}`, time)
  due.set('room-0', 5_000)
  due.delete('room-1')
  due.set('room-2', Number.POSITIVE_INFINITY)
  const wanted = times.filter((_, n) => n > 2).sort((one, other) => one - other)
  expect(due.until(300, 20).map((each) => each.at)).toEqual(wanted.slice(0, 20))
  const order: number[] = []
  for (let first = due.first; first !== undefined; first = due.first) {
    order.push(first.at)
    due.delete(first.roomId)
  }
  expect(order).toEqual([...wanted, 5_000])
})
