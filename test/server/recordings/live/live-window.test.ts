import { expect, test } from 'vitest'
import { type LiveFragment, LiveWindow, mediaLines } from '../../../../server/recordings/live/live-window.ts'

const segment = Date.UTC(2026, 8, 21, 10)

/** Fragments of segments of 4 s, each with pictures up to its end and a tail of sound from 20 ms before it to 20 ms behind it. */
function fragmentsOf(segments: number): LiveFragment[] {
  const places = [
    [0, 2],
    [2, 2],
    [3.98, 0.04],
  ] as const
  return Array.from({ length: segments }, (_, number) =>
    places.map(([start, duration], index) => ({
      ...{ segment: segment + number * 4_000, init: { offset: 0, bytes: 100 } },
      ...{ offset: 100 + index * 1_000, bytes: 1_000, start, duration, first: index === 0 },
    })),
  ).flat()
}

const lengths = (lines: readonly string[]): number[] =>
  lines.flatMap((line) => (line.startsWith('#EXTINF:') ? [Number.parseFloat(line.slice(8))] : []))
const ranges = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('#EXT-X-BYTERANGE'))
const valueOf = (text: string, tag: string): number => Number(new RegExp(`#EXT-X-${tag}:(\\d+)`).exec(text)?.[1])

test('Sound after the last picture belongs to the part before it: the playlist is as long as its media', () => {
  const lines = mediaLines(fragmentsOf(2))
  expect(lengths(lines)).toEqual([2, 2.02, 2, 2.02])
  expect(ranges(lines).slice(0, 2)).toEqual(['#EXT-X-BYTERANGE:1000@100', '#EXT-X-BYTERANGE:2000@1100'])
})

test('A part that begins early and is long is no tail: its pictures may be shown before those of the previous part', () => {
  const [first, second] = fragmentsOf(1)
  if (first === undefined || second === undefined) throw new Error('there are no fragments')
  expect(lengths(mediaLines([first, { ...second, start: 1.92, duration: 2.08 }]))).toEqual([2, 2.08])
})

test('A listed part of a live stream stays unchanged; its tail is listed with the added duration', () => {
  const window = new LiveWindow()
  const [first, second, tail] = fragmentsOf(1)
  if (first === undefined || second === undefined || tail === undefined) throw new Error('there are no fragments')
  for (const fragment of [first, second]) window.add(fragment, segment)
  const before = window.playlist(false).trim().split('\n')
  window.add(tail, segment)
  const after = window.playlist(false).trim().split('\n')
  expect(after.slice(0, before.length)).toEqual(before)
  expect(lengths(after)).toEqual([2, 2, 0.02])
})

test('Parts are removed with their tails, and each counts once', () => {
  const window = new LiveWindow()
  const listed: { sequence: number; ranges: string[] }[] = []
  for (const fragment of fragmentsOf(20)) {
    window.add(fragment, segment)
    // Read after each tail only: it is joined to its part.
    if (fragment.offset !== 2_100) continue
    const text = window.playlist(false)
    expect(lengths(text.split('\n')).every((one) => one >= 2)).toBe(true)
    listed.push({ sequence: valueOf(text, 'MEDIA-SEQUENCE'), ranges: ranges(text.split('\n')) })
  }
  const counts = listed.map(({ sequence, ranges: { length } }) => sequence + length)
  // Two parts a segment, none skipped and none counted twice.
  expect(counts).toEqual(counts.map((_, index) => (counts[0] ?? 0) + 2 * index))
  expect(listed.at(-1)?.ranges.length).toBeGreaterThan(10)
})
