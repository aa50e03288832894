import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eachReport } from '../../../../server/media/rtp/rtcp.ts'
import { TransportFeedback } from '../../../../server/media/rtp/transport-feedback.ts'

/** Reads a feedback packet like its receiver: for each sequence number its arrival in milliseconds, or missing. */
function read(packet: Buffer): { base: number; count: number; statuses: (number | 'missing')[] } {
  eachReport(packet, (type, format, offset, length) => {
    expect([type, format, offset, length]).toEqual([205, 15, 0, packet.length])
  })
  const padding = ((packet[0] ?? 0) & 0x20) === 0 ? 0 : (packet.at(-1) ?? 0)
  const count = packet.readUInt16BE(14)
  const symbols: number[] = []
  let at = 20
  for (; symbols.length < count; at += 2) {
    const chunk = packet.readUInt16BE(at)
    if (chunk >> 15 === 0) symbols.push(...Array.from({ length: chunk & 0x1fff }, () => (chunk >> 13) & 3))
    else if (chunk >> 14 === 2) for (let bit = 13; bit >= 0; bit--) symbols.push((chunk >> bit) & 1)
    else for (let bit = 12; bit >= 0; bit -= 2) symbols.push((chunk >> bit) & 3)
  }
  let ticks = packet.readUIntBE(16, 3) * 256
  const statuses = symbols.slice(0, count).map((symbol) => {
    if (symbol === 0) return 'missing'
    ticks += symbol === 1 ? packet.readUInt8(at) : packet.readInt16BE(at)
    at += symbol
    return ticks / 4
  })
  expect(at).toBe(packet.length - padding)
  return { base: packet.readUInt16BE(12), count: packet[19] ?? 0, statuses }
}

describe('transport-wide feedback', () => {
  test('reports the arrival of each packet, and the missing ones', () => {
    const feedback = new TransportFeedback()
    for (const [number, at] of [
      [65_534, 1_000],
      [65_535, 1_000.25],
      [1, 1_100],
      [2, 1_101],
    ] as const) {
      feedback.arrived(number, at)
    }
    expect(feedback.take(5).map(read)).toEqual([
      { base: 65_534, count: 0, statuses: [1_000, 1_000.25, 'missing', 1_100, 1_101] },
    ])
    // Packets missing at the start of the next report are listed there; a reported loss that arrives late gets its own entry.
    feedback.arrived(4, 1_200)
    feedback.arrived(0, 1_201)
    expect(feedback.take(5).map(read)).toEqual([
      { base: 0, count: 1, statuses: [1_201] },
      { base: 3, count: 2, statuses: ['missing', 1_200] },
    ])
    expect(feedback.pending).toBe(false)
    expect(feedback.take(5)).toEqual([])
  })

  test('restarts when a sender jumps', () => {
    const feedback = new TransportFeedback()
    feedback.arrived(10, 1_000)
    feedback.take(5)
    feedback.arrived(30_000, 1_010)
    feedback.arrived(30_001, 1_020)
    expect(feedback.take(5).map(read)).toEqual([{ base: 30_000, count: 1, statuses: [1_010, 1_020] }])
  })

  test('is correct with any loss, delay and repetition, and fits into packets', () => {
    const steps = fc.array(
      fc.record({
        ahead: fc.oneof(fc.constant(1), fc.integer({ min: -40, max: 60 })),
        ms: fc.oneof(fc.nat(3), fc.nat(9_000)),
      }),
      { minLength: 1, maxLength: 400 },
    )
    fc.assert(
      fc.property(steps, fc.nat(65_535), fc.nat(100_000), fc.nat(50), (all, start, began, often) => {
        const feedback = new TransportFeedback()
        const came = new Map<number, number[]>()
        const packets: Buffer[] = []
        let number = start
        let at = began
        for (const [i, { ahead, ms }] of all.entries()) {
          number = (number + ahead) & 0xffff
          at += ms
          came.set(number, [...(came.get(number) ?? []), at])
          feedback.arrived(number, at)
          if (feedback.full || i % (often + 1) === often) packets.push(...feedback.take(5))
        }
        packets.push(...feedback.take(5))
        const told = new Set<number>()
        for (const [i, packet] of packets.entries()) {
          expect(packet.length).toBeLessThanOrEqual(1_100)
          const { base, count, statuses } = read(packet)
          expect(count).toBe(i & 0xff)
          for (const [offset, status] of statuses.entries()) {
            const each = (base + offset) & 0xffff
            if (status === 'missing') continue
            told.add(each)
            expect(came.get(each)).toContain(status)
          }
        }
        expect(told).toEqual(new Set(came.keys()))
      }),
      { numRuns: 200 },
    )
  })
})
