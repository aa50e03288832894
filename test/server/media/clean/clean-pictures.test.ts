import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CleanPictures } from '../../../../server/media/clean/clean-pictures.ts'
import { hasMarker, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { AccessUnits } from '../../../../server/media/transcode/access-units.ts'
import { delta, idr, pps, rtp, sps } from '../rtp/packets.ts'

/** Sets and slices: their second bytes begin a picture (first_mb_in_slice 0). */
const sets = [sps, pps].map((unit) => Buffer.from(unit))
const unit = (type: 1 | 5, fill: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([type === 5 ? 0x65 : 0x41, 0x88]), Buffer.alloc(length, fill)])
/** A slice that goes on with its picture. */
const nextSlice = (type: 1 | 5, fill: number): Buffer => Buffer.from([type === 5 ? 0x65 : 0x41, 0x28, fill, fill])

/** SPS of x264 for frames alone. */
const progressive = Buffer.from('Z0LAHtkDxWhAAAADAEAAAAwDxYuS', 'base64')

/** Pictures of a film: every fifth can be decoded by itself, each has two slices. */
function film(pictures: number): Buffer[][] {
  return Array.from({ length: pictures }, (_, index) => {
    const type = index % 5 === 0 ? 5 : 1
    return [unit(type, index + 4, 40 + index), nextSlice(type, index + 4)]
  })
}

interface Sent {
  packets: Buffer[]
  /** Runs what waits for silence. */
  silence: () => void
  push: (packet: Buffer) => void
}

/** A stream that is made clean, on a clock of the test. */
function cleaned(described: readonly Buffer[] = [], now = (): number => 0): Sent {
  const packets: Buffer[] = []
  let waiting: (() => void) | undefined
  const clean = new CleanPictures({
    codec: 'H264',
    described,
    emit: (packet) => packets.push(Buffer.from(packet)),
    after: (_, run) => {
      waiting = run
      return () => {
        waiting = undefined
      }
    },
    now,
  })
  return { packets, silence: () => waiting?.(), push: (packet) => clean.push(Buffer.from(packet)) }
}

/** Pictures as a receiver puts them together by markers alone. */
function picturesOf(packets: readonly Buffer[]): Buffer[] {
  const pictures: Buffer[] = []
  const units = new AccessUnits('H264', ({ frame }) => pictures.push(frame))
  let open = false
  for (const packet of packets) {
    units.push(packet)
    open = !hasMarker(packet)
  }
  // What has no marker is no picture to a receiver.
  if (open && pictures.length > 0) pictures.pop()
  return pictures
}

/** Ways in which cameras of the field pack a picture: the payloads of its packets, each with its marker. */
const packings: Readonly<Record<string, (units: readonly Buffer[]) => { payload: Buffer; marker: boolean }[]>> = {
  'without any marker': (units) => units.map((payload) => ({ payload, marker: false })),
  'with a marker on each packet': (units) => units.map((payload) => ({ payload, marker: true })),
  'with start codes between units of one packet': (units) => [
    {
      payload: Buffer.concat(units.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from([0, 0, 0, 1]), each]))),
      marker: true,
    },
  ],
  'with a start code before each unit': (units) =>
    units.map((each, i) => ({
      payload: Buffer.concat([Buffer.from([0, 0, 1]), each]),
      marker: i === units.length - 1,
    })),
  'with empty packets in between': (units) =>
    units.flatMap((payload, i) => [
      { payload: Buffer.alloc(0), marker: false },
      { payload, marker: i === units.length - 1 },
    ]),
  'in fragments without markers': (units) =>
    units.flatMap((each) => {
      const half = Math.ceil(each.length / 2)
      const parts = [each.subarray(1, half), each.subarray(half)]
      return parts.map((part, i) => ({
        payload: Buffer.concat([
          Buffer.from([((each[0] ?? 0) & 0xe0) | 28, (i === 0 ? 0x80 : 0x40) | ((each[0] ?? 0) & 0x1f)]),
          part,
        ]),
        marker: false,
      }))
    }),
}

describe('a camera that packs pictures', () => {
  test.each(Object.entries(packings))('%s is shown completely, picture by picture', (_how, pack) => {
    const stream = cleaned()
    let sequence = 65_500
    const pictures = film(40)
    for (const [index, slices] of pictures.entries()) {
      const units = index % 5 === 0 ? [...sets, ...slices] : slices
      for (const { payload, marker } of pack(units))
        stream.push(rtp(sequence++ & 0xffff, 3_000 * index, [...payload], { marker }))
    }
    stream.silence()
    // The first pictures show what is wrong with the stream.
    const seen = picturesOf(stream.packets)
    const wanted = pictures
      .slice(10)
      .map((slices) => Buffer.concat(slices.flatMap((each) => [Buffer.from([0, 0, 0, 1]), each])))
    for (const picture of wanted) expect(seen.some((each) => each.includes(picture))).toBe(true)
    const numbers = stream.packets.map(sequenceOf)
    for (const [i, number] of numbers.entries()) {
      if (i > 0) expect((number - (numbers[i - 1] ?? 0)) & 0xffff).toBeLessThanOrEqual(2)
    }
  })

  test.each([
    ['with markers', true],
    ['without any', false],
  ])('by one timestamp for ever, %s, is shown picture by picture, at the pace at which they come', (_how, marks) => {
    let now = 0
    const stream = cleaned([], () => now)
    for (const [index, slices] of film(30).entries()) {
      now = index * 40
      const units = index % 5 === 0 ? [...sets, ...slices] : slices
      for (const [i, payload] of units.entries()) {
        const marker = marks && i === units.length - 1
        stream.push(rtp(sequenceAt(index, i), 7_000, [...payload], { marker }))
      }
    }
    stream.silence()
    // The last picture has no successor, and so comes with the silence.
    const times = [...new Set(stream.packets.slice(-24).map(timestampOf))].slice(0, -1)
    expect(times.length).toBeGreaterThan(5)
    for (const [i, time] of times.entries()) if (i > 1) expect(time - (times[i - 1] ?? 0)).toBe(3_600)
  })
})

/** Numbers of packets, four for each picture. */
function sequenceAt(picture: number, packet: number): number {
  return film(picture).reduce((sum, slices, index) => sum + slices.length + (index % 5 === 0 ? 2 : 0), 0) + packet
}

test('a clean stream passes unchanged, whatever it contains', () => {
  const stream = cleaned(sets)
  const sent: Buffer[] = []
  let sequence = 9
  for (const [index, slices] of film(20).entries()) {
    const units = index % 5 === 0 ? [...sets, ...slices] : slices
    for (const [i, payload] of units.entries()) {
      const packet = rtp(sequence++, 3_000 * index, [...payload], { marker: i === units.length - 1 })
      sent.push(Buffer.from(packet))
      stream.push(packet)
    }
  }
  expect(stream.packets).toEqual(sent)
})

test('pictures that share a timestamp are sent one by one, from the first on', () => {
  let now = 0
  const { packets, push, silence } = cleaned([progressive], () => now)
  const pictures = film(12)
  let number = 0
  for (const [index, units] of pictures.entries()) {
    now = index * 40
    // Two share one, then each has its own, then all share one.
    const timestamp = 90_000 + Math.min(index < 2 ? 0 : index - 1, 5) * 3_600
    for (const [place, payload] of units.entries())
      push(rtp(number++, timestamp, [...payload], { marker: place === units.length - 1 }))
  }
  silence()
  expect(picturesOf(packets)).toHaveLength(pictures.length)
  const timestamps = [...new Set(packets.map(timestampOf))]
  expect(timestamps).toHaveLength(pictures.length)
  expect(timestamps).toEqual(timestamps.toSorted((one, other) => one - other))
})

test('after one fault a source passes packet by packet again once some pictures were clean, and is repaired at the next fault', () => {
  let now = 0
  const { packets, push, silence } = cleaned([progressive], () => now)
  const pictures = film(150)
  let number = 0
  const came: Buffer[] = []
  for (const [index, units] of pictures.entries()) {
    now = index * 40
    // The second and third, and the last two, share a timestamp.
    const timestamp = 90_000 + 3_600 * (index - (index >= 2 ? 1 : 0) - (index === pictures.length - 1 ? 1 : 0))
    for (const [place, payload] of units.entries()) {
      // A slice in a packet of its own: rebuilt pictures are packed in the same way.
      const packet = rtp(number++, timestamp, [...payload], { marker: place === units.length - 1 })
      came.push(Buffer.from(packet))
      push(packet)
    }
  }
  silence()
  expect(picturesOf(packets)).toHaveLength(pictures.length)
  const numbers = packets.map(sequenceOf)
  expect(numbers).toEqual(numbers.map((_, index) => index))
  const timestamps = [...new Set(packets.map(timestampOf))]
  expect(timestamps).toHaveLength(pictures.length)
  const passed = came.slice(200, 280).map((packet) => packet.subarray(4))
  expect(packets.map((packet) => packet.subarray(4))).toEqual(expect.arrayContaining(passed))
})

test('parameter sets overtaken over UDP are not sent twice', () => {
  const stream = cleaned(sets)
  const sent: Buffer[] = []
  for (const [index, slices] of film(6).entries()) {
    const units = index % 5 === 0 ? [...sets, ...slices] : slices
    const packets = units.map((payload, i) =>
      rtp(sequenceAt(index, i), 3_000 * index, [...payload], { marker: i === units.length - 1 }),
    )
    // The second key picture comes backwards.
    const coming = index === 5 ? packets.toReversed() : packets
    sent.push(...coming.map((packet) => Buffer.from(packet)))
    for (const packet of coming) stream.push(packet)
  }
  expect(stream.packets).toEqual(sent)
})

test('parameter sets of the description, or from long ago, are inserted before each key picture that lacks them, with consecutive numbers', () => {
  const stream = cleaned(sets)
  let sequence = 65_533
  for (const [payload, timestamp, marker] of [
    [idr, 1, true],
    [delta, 2, true],
    [idr, 3, false],
    [idr, 3, true],
    [delta, 4, true],
  ] as const) {
    stream.push(rtp(sequence++ & 0xffff, timestamp, payload, { marker }))
  }
  expect(stream.packets.map((packet) => (packet[12] ?? 0) & 0x1f)).toEqual([24, 5, 1, 24, 5, 5, 1])
  expect(stream.packets.map(sequenceOf)).toEqual([65_533, 65_534, 65_535, 0, 1, 2, 3])
  expect(stream.packets.map(timestampOf)).toEqual([1, 1, 2, 3, 3, 3, 4])
  expect(stream.packets[0]?.subarray(13)).toEqual(Buffer.from([0, sps.length, ...sps, 0, pps.length, ...pps]))
})

test('a key picture with one of its parameter sets gets the missing ones', () => {
  const stream = cleaned(sets)
  let sequence = 0
  for (const [payload, timestamp, marker] of [
    [sps, 1, false],
    [idr, 1, false],
    [idr, 1, true],
    [delta, 2, true],
    [pps, 3, false],
    [idr, 3, true],
  ] as const) {
    stream.push(rtp(sequence++, timestamp, payload, { marker }))
  }
  expect(stream.packets.map((packet) => (packet[12] ?? 0) & 0x1f)).toEqual([7, 24, 5, 5, 1, 8, 24, 5])
  expect(stream.packets.map(sequenceOf)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('packets of any form never throw, and no packet leaves longer than it arrived', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          payload: fc.uint8Array({ maxLength: 60 }),
          step: fc.constantFrom(1, 1, 1, 2, 0, -1, 5_000),
          ticks: fc.constantFrom(0, 0, 3_000, -3_000),
          marker: fc.boolean(),
        }),
        { maxLength: 80 },
      ),
      (packets) => {
        const stream = cleaned(sets)
        let [sequence, timestamp] = [100, 100_000]
        for (const { payload, step, ticks, marker } of packets) {
          sequence = (sequence + step) & 0xffff
          timestamp = (timestamp + ticks) >>> 0
          stream.push(rtp(sequence, timestamp, [...payload], { marker }))
        }
        stream.silence()
        for (const packet of stream.packets) expect(packet.length).toBeLessThan(1_400)
      },
    ),
  )
})
