import { pause as pauseOn, sleep as sleepOn, type SleepOptions, type StartTimer } from '../../../shared/sleep.ts'
import { type System, system, type Timer } from './system.ts'

export type { Timer }

/** Milliseconds since the epoch; it steps when somebody sets the clock. */
export function wallClock(): number {
  return system().now()
}

/** Milliseconds that never go back. They stand still while the machine is suspended. */
export function monotonic(): number {
  return system().monotonic()
}

interface Clocks {
  monotonic: number
  wall: number
  /** Sum of the larger step of both since the first look. */
  elapsed: number
}
const clocks = new WeakMap<System, Clocks>()

/**
 * Milliseconds since some moment that also pass while the machine is suspended, when its monotonic clock stands still: the larger step of both clocks counts. It jumps ahead when
 * somebody sets the wall clock ahead: what it measures is over too early then, never too late.
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

/** Runs something later. @param ref whether the program waits for it before it ends */
export function startTimer(milliseconds: number, run: () => void, ref = true): Timer {
  return system().after(milliseconds, run, ref)
}

/** Resolves after so long. @throws what `signal` is aborted with */
export function sleep(milliseconds: number, options: SleepOptions = {}): Promise<void> {
  return sleepOn(milliseconds, options, systemTimers)
}

/** Resolves after so long, or as soon as `signal` aborts. Never rejects. */
export function pause(milliseconds: number, options: SleepOptions): Promise<void> {
  return pauseOn(milliseconds, options, systemTimers)
}

const systemTimers: StartTimer = (milliseconds, run, ref) => {
  const timer = system().after(milliseconds, run, ref)
  return () => timer.cancel()
}

/** Settles as `work` does, if that is by then; the work goes on. @param ref whether the program waits for it before it ends @throws what `late` makes */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error, ref = true): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = startTimer(milliseconds, () => reject(late()), ref)
  return await Promise.race([work, over]).finally(() => timer.cancel())
}

/** Resolves when what has arrived already is done: other work has its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => system().soon(resolve))
}

/** Aborted after so long, with a TimeoutError. */
export function timeoutSignal(milliseconds: number): AbortSignal {
  const over = new AbortController()
  system().after(milliseconds, () => over.abort(new DOMException('The time is over.', 'TimeoutError')), false)
  return over.signal
}
