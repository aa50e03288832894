import { expect, test } from 'vitest'
import {
  dayOf,
  following,
  maxViewMs,
  minViewMs,
  moved,
  ticksOf,
  zoomed,
} from '../../../renderer/console/pages/recordings/axis.ts'
import { type Piece, pieceAt } from '../../../renderer/console/pages/recordings/player/piece.ts'
import { keyOf, streamOf } from '../../../renderer/console/pages/recordings/streams.ts'

const noon = new Date(2026, 8, 21, 12).getTime()
const hour = 3_600_000

test('A day has ticks at round hours, a minute at round seconds, and never too many', () => {
  const day = dayOf(noon)
  expect(day.to - day.from).toBe(24 * hour)
  const hours = ticksOf(day, 900)
  expect(hours.map(({ at }) => new Date(at).getHours())).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 0])
  const seconds = ticksOf({ from: noon, to: noon + 60_000 }, 900)
  expect(seconds.map(({ at }) => (at - noon) / 1_000)).toEqual([0, 10, 20, 30, 40, 50, 60])
  for (const length of [minViewMs, hour, 30 * hour, maxViewMs])
    expect(ticksOf({ from: noon, to: noon + length }, 390).length).toBeLessThan(10)
})

test('The moment under the pointer stays there while the time line is zoomed, within its limits', () => {
  const view = { from: noon, to: noon + 24 * hour }
  const around = noon + 6 * hour
  const closer = zoomed(view, around, 0.5)
  expect(closer.to - closer.from).toBe(12 * hour)
  expect((around - closer.from) / (closer.to - closer.from)).toBeCloseTo(0.25)
  expect(zoomed(view, around, 1e-9).to - zoomed(view, around, 1e-9).from).toBe(minViewMs)
  expect(zoomed(view, around, 1e9).to - zoomed(view, around, 1e9).from).toBe(maxViewMs)
  expect(moved(view, hour).from).toBe(noon + hour)
})

test('The view follows a moment that leaves it', () => {
  const view = { from: noon, to: noon + hour }
  expect(following(view, noon + hour / 2)).toBe(view)
  const next = following(view, noon + hour)
  expect(next.from).toBeGreaterThan(view.from)
  expect(next.to - next.from).toBe(hour)
  expect(following(view, noon - 5_000).from).toBeLessThan(noon)
})

test('A stream survives the round trip through the address of the page', () => {
  const stream = { room_id: 'a/b %', user_id: 'Käthe', source: 'screen', quality: 'main' } as const
  expect(streamOf(keyOf(stream))).toEqual(stream)
  for (const wrong of ['', 'a/b', 'a/b/main/other', 'a/b/film/main', '%/b/main/main', 'a/b/main/main/x'])
    expect(streamOf(wrong)).toBeUndefined()
})

test('At a segment boundary the later segment counts; in a gap the next one; after the end none, unless it is still growing', () => {
  const piece = (id: number, from: number, to: number, open = false): Piece => ({
    ...{ id, from, to, open, type: '', hasPicture: true, hasSound: true },
  })
  const pieces = [piece(1, 0, 1_020), piece(2, 1_000, 2_000), piece(3, 5_000, 6_000)]
  expect([500, 1_010, 1_999, 2_000, 5_500].map((time) => pieceAt(pieces, time)?.id)).toEqual([1, 2, 2, 3, 3])
  expect(pieceAt(pieces, 6_000)).toBeUndefined()
  expect(pieceAt([...pieces, piece(4, 6_000, 6_500, true)], 9_000)?.id).toBe(4)
  expect(pieceAt([], 0)).toBeUndefined()
})
