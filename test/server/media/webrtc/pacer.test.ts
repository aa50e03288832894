import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../../server/media/base/lifetime.ts'
import { Pacer } from '../../../../server/media/webrtc/paced-video.ts'

/** Packets of 1,000 bytes at 800 kbit/s: one every 10 ms. */
const packet = Buffer.alloc(1_000)

describe('sending over a small link', () => {
  let lifetime: Lifetime
  let sentAt: number[]
  let pacer: Pacer<{ packet: Buffer }>
  beforeEach(() => {
    vi.useFakeTimers()
    lifetime = new Lifetime((error) => expect.fail(String(error)))
    sentAt = []
    const began = performance.now()
    pacer = new Pacer(lifetime, 800_000, () => sentAt.push(performance.now() - began))
  })
  afterEach(() => {
    lifetime.end()
  })

  test('goes no faster than its rate, however much is queued', () => {
    for (let i = 0; i < 100; i++) pacer.push({ packet })
    expect(pacer.waitMs).toBeCloseTo(1_000, -2)
    vi.advanceTimersByTime(500)
    expect(sentAt.length).toBeGreaterThan(45)
    expect(sentAt.length).toBeLessThan(58)
    vi.advanceTimersByTime(600)
    expect(sentAt).toHaveLength(100)
    expect(pacer.empty).toBe(true)
  })

  test('waits until the link’s queue is empty, and continues as before', () => {
    pacer.rest(250)
    for (let i = 0; i < 10; i++) pacer.push({ packet })
    vi.advanceTimersByTime(249)
    expect(sentAt).toEqual([])
    vi.advanceTimersByTime(150)
    expect(sentAt).toHaveLength(10)
    expect(Math.max(...sentAt) - Math.min(...sentAt)).toBeGreaterThan(20)
  })
})
