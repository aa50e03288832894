import { beforeEach, expect, test } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import EventsPage from '../../../renderer/console/pages/EventsPage.vue'
import { asCsv, asLines, collectEvents } from '../../../renderer/console/pages/events/exportEvents.ts'
import { eventsOf, useEventFilter } from '../../../renderer/console/pages/events/useEventFilter.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'
import { atAddress } from '../at-address.ts'
import { eventually } from '../eventually.ts'

let client: ConsoleClient
beforeEach(async () => {
  client = await operator()
})

const rows = () => [...document.querySelectorAll<HTMLElement>('.row-line')].map((row) => row.textContent ?? '')

test('A change by an operator shows at once with its author and the previous value, in both languages; the log verifies', async () => {
  show(EventsPage, client)
  await says('Roomdesk test started')
  await client.call('settings.set', { room_defaults: { max_video: 7 } })
  await says('Settings changed: Max. video streams')
  const row = await eventually(() => {
    const found = [...document.querySelectorAll<HTMLElement>('.row-line')].find((one) =>
      one.textContent?.includes('Max. video streams'),
    )
    if (!found) throw new Error('not listed yet')
    return found
  })
  expect(row.textContent).toContain('Owner (desktop app)')
  row.click()
  await says('Before and after')
  expect(row.textContent).toContain('Max. video streams: 16 → 7')
  expect(pageText()).toMatch(/Max\. video streams\s*16\s*7/)
  await press('Verify log')
  await says('The log is intact:')
  await showLanguage('zh')
  await says('设置已更改：视频路数上限')
  await says('视频路数上限：16 → 7')
  await says('日志完整：')
  await showLanguage('en')
})

test('A room has its own events, and the export has the displayed ones', async () => {
  const { room_id } = await client.call('rooms.create', { topic: '=Night shift' })
  await client.call('rooms.create', { topic: 'Other' })
  await client.call('rooms.close', { room_ids: [room_id] })
  const { used } = await atAddress(eventsOf('room', room_id), () => useEventFilter(() => []))
  const { filter } = used
  expect(filter.value).toMatchObject({ subject: { type: 'room', id: room_id } })
  const { items, complete } = await collectEvents(client, filter.value)
  expect(complete).toBe(true)
  expect(items.map(({ params }) => params.procedure)).toEqual(['rooms.close', 'rooms.create'])
  const lines = asLines(items).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(items.toReversed())
  const csv = asCsv(items, ({ seq }) => `Event ${seq}`).split('\r\n')
  expect(csv).toHaveLength(4)
  // A spreadsheet must not read a room's name as a formula.
  expect(csv[1]).toContain(`,room,${room_id},"'=Night shift",`)
})

test('Names from an earlier version can neither run nor hide in an export', () => {
  const entry: EventEntry = {
    seq: 7,
    at: 0,
    kind: 'person.joined',
    level: 'info',
    actor: { type: 'host', name: '＝cmd', address: '' },
    subject: { type: 'person', id: 'ann', name: 'Ann\n=HYPERLINK("http://192.0.2.1")' },
    room: 'gpj\u202e.exe',
    params: {},
    prev: '',
    hash: '-x',
  }
  const csv = asCsv([entry], () => '+1').trimEnd()
  expect(csv.split(/\r?\n/)).toHaveLength(2)
  expect(csv).toContain(`,"'+1",host,"'＝cmd",,person,ann,"Ann\ufffd=HYPERLINK(""http://192.0.2.1"")",gpj\ufffd.exe,`)
  expect(csv).toMatch(/,"'-x"$/)
})

test('Filters show only matching events', async () => {
  await client.call('rooms.create', { topic: 'Lobby' })
  show(EventsPage, client)
  await says('Room “Lobby” created')
  const search = document.querySelector<HTMLInputElement>('input[type="search"], input')
  if (!search) throw new Error('there is no search field')
  search.value = 'lobby'
  search.dispatchEvent(new Event('input', { bubbles: true }))
  await eventually(() => expect(rows()).toHaveLength(1))
  search.value = 'created “lobby”'
  search.dispatchEvent(new Event('input', { bubbles: true }))
  await eventually(() => expect(rows()).toEqual([expect.stringContaining('Room “Lobby” created')]))
  await press('Clear filters')
  await says('Roomdesk test started')
})
