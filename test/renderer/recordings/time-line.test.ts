import { expect, test } from 'vitest'
import TimeLine from '../../../renderer/console/pages/recordings/TimeLine.vue'
import { useHoverPictures } from '../../../renderer/console/pages/recordings/useHoverPictures.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { operator, pageText, show } from '../devices/operator-page.ts'

const from = new Date(2026, 8, 21, 10).getTime()
const minute = 60_000

const speex: Shortcoming = { kind: 'audio', way: 'none', reason: 'speex', detail: 'Speex', recorded: false }

const lost: EventEntry = {
  ...{ seq: 7, at: from + 20 * minute, kind: 'device.lost', level: 'warning', room: '1000', prev: '', hash: '' },
  actor: { type: 'system', name: '', address: '' },
  subject: { type: 'device', id: 'dock', name: 'Loading dock' },
  params: { reason: 'timeout' },
}

test('The time line shows spans, gaps with their reasons and events; a click and the event seek', async () => {
  const span = { segments: 1, bytes: 1, kept: false, open: false }
  const lane = {
    spans: [
      { ...span, from, to: from + 20 * minute },
      { ...span, from: from + 40 * minute, to: from + 60 * minute, kept: true },
    ],
    gaps: [{ from: from + 20 * minute, to: from + 40 * minute, reason: 'silent' as const }],
    lacks: [{ from: from + 50 * minute, to: from + 60 * minute, tracks: [speex] }],
  }
  const shown = show(TimeLine, await operator(), {
    view: { from, to: from + 60 * minute },
    rows: [{ key: 'dock', name: 'Loading dock', detail: 'Yard' }],
    lanes: new Map([['dock', lane]]),
    marks: [lost, { ...lost, seq: 8, at: from + 90 * minute }],
    at: from + 30 * minute,
    selection: { from, to: from + 6 * minute },
    pictures: useHoverPictures(),
    piecesOf: () => undefined,
  })
  expect(pageText()).toContain('Loading dock')
  const style = (selector: string): string[] =>
    shown.findAll(selector).map((one) => (one.attributes('style') ?? '').replace(/\s/g, ''))
  expect(style('.span').map((text) => text.split(';')[0])).toEqual(['left:0%', expect.stringMatching(/^left:66\.6/)])
  expect(shown.findAll('.span.kept')).toHaveLength(1)
  expect(shown.find('.gap').attributes('title')).toMatch(/10:20:00 – 10:40:00\s+No media received/)
  const lacking = shown.find('.lack').attributes()
  expect(lacking.title).toMatch(/10:50:00 – 11:00:00\s+Speex is not supported.*It is not recorded/)
  expect(lacking.style).toMatch(/left: ?83\.3/)
  expect(style('.cursor')[0]).toContain('left:50%')
  expect(style('.selection')[0]).toContain('width:10%')
  // Events outside of the view are not shown.
  const marks = shown.findAll('.mark')
  expect(marks.map((mark) => mark.attributes('title'))).toEqual([
    expect.stringContaining('Device “Loading dock” was lost'),
  ])
  await marks[0]?.trigger('click')
  expect(shown.emitted('seek')).toEqual([[from + 20 * minute]])
  // The wheel brings the moment under the pointer closer.
  await shown.find('.track').trigger('wheel', { deltaY: -400, clientX: 0 })
  const [[closer] = []] = (shown.emitted('update:view') ?? []) as { from: number; to: number }[][]
  expect(closer?.from).toBe(from)
  expect((closer?.to ?? 0) - from).toBeLessThan(40 * minute)
})
