import { expect, test } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { cameraUptimeOf } from '../../../server/devices/camera-uptime.ts'

const hour = 60 * 60_000
const day = 24 * hour
const now = 100 * day

let seq = 0
function entry(kind: EventEntry['kind'], at: number, reason = ''): EventEntry {
  const actor = { type: 'system', name: '', address: '' } as const
  const subject = { type: 'device', id: 'gate', name: 'Gate' } as const
  const params = reason === '' ? {} : { reason }
  return { seq: ++seq, at, kind, level: 'info', actor, subject, params, room: '', prev: '', hash: '' }
}

/** The log as it answers: newest first, own events and those of the controller by themselves. */
function logOf(entries: readonly EventEntry[]) {
  return {
    query: async ({ groups = [] }: { groups?: readonly string[] | undefined }) => {
      const own = groups.includes('devices')
      const items = entries.filter(({ kind }) => kind.startsWith('device.') === own).toReversed()
      return { items, next: 0, kept: entries.length, since: 0 }
    },
  }
}

test('the record of a camera says when it was down and why, and leaves out times without observation', async () => {
  const log = logOf([
    entry('device.joined', now - 40 * day),
    entry('device.lost', now - 10 * hour, 'closed'),
    entry('device.failed', now - 9 * hour, 'auth'),
    entry('device.joined', now - 8 * hour),
    entry('controller.stopped', now - 6 * hour),
    entry('controller.started', now - 4 * hour),
    entry('device.joined', now - 4 * hour),
    entry('device.paused', now - hour),
  ])
  const { from, spans, day: today, month } = await cameraUptimeOf(log, 'gate', 0, now)
  expect(from).toBe(now - 30 * day)
  expect(spans.map(({ state, kind, to, from: begun }) => [state, kind, (to - begun) / hour])).toEqual([
    ['up', null, 30 * 24 - 10],
    ['down', 'closed', 1],
    ['down', 'auth', 1],
    ['up', null, 2],
    ['unknown', null, 2],
    ['up', null, 3],
    ['paused', null, 1],
  ])
  expect(today).toBeCloseTo(19 / 21)
  expect(month).toBeCloseTo((30 * 24 - 5) / (30 * 24 - 3))
})

test('a newly added camera has a record from then on', async () => {
  const log = logOf([entry('device.added', now - hour), entry('device.joined', now - hour / 2)])
  const { from, spans, day: today } = await cameraUptimeOf(log, 'gate', now - hour, now)
  expect(from).toBe(now - hour)
  expect(spans.map(({ state }) => state)).toEqual(['unknown', 'up'])
  expect(today).toBe(1)
})
