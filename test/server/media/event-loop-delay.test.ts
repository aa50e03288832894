import { beforeEach, describe, expect, test } from 'vitest'
import { EventLoopDelay } from '../../../server/media/base/event-loop.ts'

describe('a process that waits for a processor core', () => {
  let delay: EventLoopDelay
  let now: number
  beforeEach(() => {
    delay = new EventLoopDelay()
    now = 0
  })

  /** Samples the clock for this long, each sample late by `lateMs`. */
  function pass(ms: number, lateMs: number): void {
    for (const end = now + ms; now < end; ) {
      now += 50 + lateMs
      delay.look(now)
    }
  }

  test('is late while it waits a tenth of the time, and no longer two seconds later', () => {
    pass(3_000, 2)
    expect(delay.high).toBe(false)
    pass(1_500, 40)
    expect(delay.high).toBe(true)
    pass(2_100, 0)
    expect(delay.high).toBe(false)
  })

  test('is not late after a single delay', () => {
    pass(3_000, 0)
    pass(50, 80)
    expect(delay.high).toBe(false)
    pass(50, 400)
    expect(delay.high).toBe(true)
  })
})
