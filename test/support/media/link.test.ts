import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Link } from './link.ts'

describe('a simulated link', () => {
  let arrived: { packet: number; at: number }[]

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    arrived = []
  })

  /** Sends packets of 972 bytes, 1,000 with the headers of IP and UDP, at this interval in milliseconds. */
  function send(link: Link, count: number, everyMs: number): void {
    const began = performance.now()
    for (let packet = 0; packet < count; packet++) {
      vi.advanceTimersByTime(began + packet * everyMs - performance.now())
      link.carry(972, () => arrived.push({ packet, at: performance.now() - began }))
    }
    vi.runAllTimers()
  }

  test('delivers everything at once without limits', () => {
    send(new Link(1), 5, 0)
    expect(arrived).toEqual([0, 1, 2, 3, 4].map((packet) => ({ packet, at: 0 })))
  })

  test('of 800 kbit/s delivers a hundred packets a second, queues up to its limit, and drops the rest', () => {
    const link = new Link(1)
    Object.assign(link, { kbps: 800, queueMs: 100 })
    send(link, 400, 5)
    // 2 s at 100 a second, and the queue of 100 ms.
    expect(arrived.length).toBeGreaterThanOrEqual(208)
    expect(arrived.length).toBeLessThanOrEqual(212)
    expect(link.counts).toMatchObject({ offered: 400, passed: arrived.length, dropped: 400 - arrived.length })
    expect(arrived.every(({ packet, at }) => at - packet * 5 <= 111)).toBe(true)
  })

  test('that widens while packets wait delivers later packets at the new rate', () => {
    const link = new Link(1)
    link.kbps = 80
    send(link, 1, 0)
    expect(arrived).toEqual([{ packet: 0, at: 100 }])
    link.kbps = Infinity
    send(link, 3, 10)
    expect(arrived.slice(1).map(({ at }) => at)).toEqual([0, 10, 20])
  })

  test('delays each packet by a varying time within its jitter, in order, and the same in each run', () => {
    const run = (): { packet: number; at: number }[] => {
      arrived = []
      const link = new Link(3)
      Object.assign(link, { delayMs: 50, jitterMs: 20, loss: 0.1 })
      send(link, 100, 10)
      return arrived
    }
    const first = run()
    expect(run()).toEqual(first)
    const waits = first.map(({ packet, at }) => at - packet * 10)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(50)
    expect(Math.max(...waits)).toBeLessThanOrEqual(71)
    expect(new Set(waits).size).toBeGreaterThan(5)
    expect(first.map(({ packet }) => packet)).toEqual(first.map(({ packet }) => packet).toSorted((a, b) => a - b))
    expect(first.length).toBeGreaterThan(80)
    expect(first.length).toBeLessThan(98)
  })
})
