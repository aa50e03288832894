import { expect, test } from 'vitest'
import { EventMarks } from '../../../server/event-log/event-marks.ts'
import type { EventDraft } from '../../../server/event-log/event-log.ts'
import { joined, openLog } from '../../support/sites/event-log-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const hourMs = 3_600_000

function lost(id: string, at: number): EventDraft {
  const subject = { type: 'device', id, name: id } as const
  return { kind: 'device.lost', level: 'warning', subject, params: { reason: 'unreachable' }, at }
}

test('Events of the charts are grouped by time, from an index that a start builds from the log', async () => {
  const folder = await temporaryFolder()
  const now = Math.floor(Date.now() / (12 * hourMs)) * 12 * hourMs + 5 * hourMs
  const clock = () => now
  const node = { type: 'node', id: 'Hall', name: 'Hall' } as const
  const before = await openLog(folder, { clock })
  before.append(lost('old', now - 40 * 24 * hourMs))
  before.append({ kind: 'node.offline', level: 'error', subject: node, params: { error: '' }, at: now - 50 * hourMs })
  for (let index = 0; index < 5_000; index++) before.append({ ...joined(`p${index}`), at: now - 30 * hourMs })
  for (const id of ['gate', 'yard', 'hall', 'roof']) before.append(lost(id, now - 3 * hourMs))
  before.append({ ...lost('gate', now - 3 * hourMs), kind: 'log.gathered', params: { kind: 'device.lost', count: 6 } })
  await before.close()

  const log = await openLog(folder, { clock })
  const marks = new EventMarks(log, clock)
  const settings = { type: 'settings', id: 'site', name: '' } as const
  log.append({ kind: 'site.changed', subject: settings, params: { procedure: 'settings.set' }, at: now - 60_000 })

  const day = await marks.view('24h')
  expect(day.complete).toBe(true)
  expect(day.items).toMatchObject([
    { level: 'warning', count: 10, kinds: [{ kind: 'camera', count: 10 }] },
    { at: now - 60_000, level: 'info', count: 1, kinds: [{ kind: 'settings', count: 1 }] },
  ])
  expect(day.items[0]?.events).toHaveLength(3)
  expect((await marks.view('15m')).items).toHaveLength(1)
  const month = await marks.view('30d')
  expect(month.items.map(({ count }) => count)).toEqual([1, 11])
  expect(month.items[0]).toMatchObject({ level: 'error', events: [{ kind: 'node.offline', subject: { id: 'Hall' } }] })

  log.append(lost('roof', now))
  await log.flush()
  expect((await marks.view('15m')).items.at(-1)).toMatchObject({ kinds: [{ kind: 'camera', count: 1 }] })
})
