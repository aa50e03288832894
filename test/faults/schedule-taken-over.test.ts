import { expect, onTestFinished, test } from 'vitest'
import { ControllersSite, roleOf, type SiteController } from '../support/sites/controllers-site.ts'

/** A schedule with one meeting of a minute. @param seconds until its start */
const meetingIn = (seconds: number) => ({
  start: new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19),
  minutes: 1,
  zone: 'UTC',
  early_minutes: 0,
  overrun_minutes: 0,
})

const create = async ({ headless }: SiteController, topic: string, seconds: number) => {
  const schedule = meetingIn(seconds)
  const { room_id } = await headless.rpc('rooms.create', { topic, schedule })
  return { room_id, start: Date.parse(`${schedule.start}Z`) }
}

const isOpen = async ({ headless }: SiteController, room_id: string): Promise<boolean> =>
  (await headless.rpc('rooms.get', { room_id })).room.meeting?.open === true

/** Events of schedules for a room, from the event log of the site: each controller shows it. */
const reportsOf = async ({ headless }: SiteController, id: string): Promise<string[]> => {
  const { items } = await headless.rpc('events.list', { subject: { type: 'room', id } })
  return items.map(({ kind }) => kind).filter((kind) => kind.endsWith('BySchedule'))
}

test('the next leader opens and closes scheduled rooms on time and once, although the leader was frozen or killed meanwhile', {
  timeout: 90_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const rooms: string[] = []
  for (const way of ['freeze', 'kill'] as const) {
    const first = await site.leader()
    const [opens, closes] = [await create(first, `Opens, ${way}`, 7), await create(first, `Closes, ${way}`, -53)]
    rooms.push(opens.room_id, closes.room_id)
    expect(await isOpen(first, opens.room_id)).toBe(false)
    await expect.poll(() => reportsOf(first, closes.room_id)).toEqual(['room.openedBySchedule'])
    // A controller writes its events to the database within a second.
    const stored = `select count(*)::int as lines from roomdesk_event where line like '%openedBySchedule%${closes.room_id}%'`
    await expect.poll(() => site.query(stored)).toEqual([{ lines: 1 }])
    if (way === 'freeze') site.freeze(first, true)
    else await site.kill(first)
    expect(Date.now()).toBeLessThan(opens.start)

    const next = await site.leader(first)
    await expect.poll(() => isOpen(next, opens.room_id)).toBe(true)
    expect(Date.now()).toBeGreaterThanOrEqual(opens.start)
    await expect.poll(() => isOpen(next, closes.room_id)).toBe(false)
    await expect.poll(() => reportsOf(next, opens.room_id)).toEqual(['room.openedBySchedule'])
    await expect.poll(() => reportsOf(next, closes.room_id)).toEqual(['room.closedBySchedule', 'room.openedBySchedule'])

    // Its timers are due as well when it resumes.
    if (way === 'freeze') site.freeze(first, false)
    else await site.restart(first)
    await expect.poll(() => roleOf(first)).toBe('standby')
  }
  for (const room of rooms) {
    const marks = await reportsOf(await site.leader(), room)
    expect(marks, room).toEqual([...new Set(marks)])
  }
})
