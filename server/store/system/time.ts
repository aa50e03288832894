import { pause as pauseWith, sleep as sleepWith, type SleepOptions, type StartTimer } from '../../../shared/sleep.ts'
import { type System, system, type Timer } from './system.ts'

export type { Timer }

/** Returns milliseconds since the epoch. The value jumps when the clock is set. */
export function wallClock(): number {
  return system().now()
}

/** Returns milliseconds that never go back. They stop while the machine is suspended. */
export function monotonic(): number {
  return system().monotonic()
}

interface Clocks {
  monotonic: number
  wall: number
  /** Milliseconds since the first call. Each call adds the larger advance of the two clocks. */
  elapsed: number
}
const clocks = new WeakMap<System, Clocks>()

/**
 * Returns milliseconds since an arbitrary moment, including the time while the machine was suspended, when the
 * monotonic clock stops. Between two calls, the larger step of the monotonic clock and the wall clock counts.
 * If the wall clock is set forward, the value jumps forward: a measured period then ends too early, never too late.
 */
export function elapsed(): number {
  const own = system()
  const [nowMonotonic, nowWall] = [own.monotonic(), own.now()]
  let before = clocks.get(own)
  if (before === undefined) {
    before = { monotonic: nowMonotonic, wall: nowWall, elapsed: 1 }
    clocks.set(own, before)
  }
  before.elapsed += Math.max(nowMonotonic - before.monotonic, nowWall - before.wall, 0)
  before.monotonic = nowMonotonic
  before.wall = nowWall
  return before.elapsed
}

/** Runs a function after a delay. @param ref whether the timer keeps the process alive */
export function startTimer(milliseconds: number, run: () => void, ref = true): Timer {
  return system().after(milliseconds, run, ref)
}

/** Resolves after a delay. @throws the abort reason of `signal` */
export function sleepOn(milliseconds: number, options: SleepOptions = {}): Promise<void> {
  return sleepWith(milliseconds, options, systemTimers)
}

/** Resolves after a delay, or as soon as `signal` aborts. Never rejects. */
export function pauseOn(milliseconds: number, options: SleepOptions): Promise<void> {
  return pauseWith(milliseconds, options, systemTimers)
}

const systemTimers: StartTimer = (milliseconds, run, ref) => {
  const timer = system().after(milliseconds, run, ref)
  return () => timer.cancel()
}

/**
 * Settles like `work`, or rejects after the deadline; the work itself continues.
 * @param ref whether the timer keeps the process alive
 * @throws the error of `late`
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error, ref = true): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = startTimer(milliseconds, () => reject(late()), ref)
  return await Promise.race([work, over]).finally(() => timer.cancel())
}

/** Yields to the event loop: resolves when events that have already arrived are handled. */
export function turn(): Promise<void> {
  return new Promise((resolve) => system().soon(resolve))
}

/** Returns a signal that aborts with a TimeoutError after a delay. */
export function timeoutSignal(milliseconds: number): AbortSignal {
  const over = new AbortController()
  system().after(milliseconds, () => over.abort(new DOMException('The time is over.', 'TimeoutError')), false)
  return over.signal
}

/** Timer that can be ended early. If `ring` is called while no wait is running, the next wait ends at once. */
export class Alarm {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** @param ms maximum duration, in milliseconds */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = startTimer(ms, resolve)
      await promise
      timer.cancel()
      this.#wake = undefined
    }
    this.#rung = false
  }
}
