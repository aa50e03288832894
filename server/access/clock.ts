/** Clock in milliseconds since the epoch that never goes back. */
export type SteadyClock = () => number

/**
 * Returns a clock that follows the wall clock forwards, even after the machine was suspended. If the wall clock is set
 * back, the returned clock continues at the pace of the monotonic clock. Measured times thus neither end early nor are
 * extended.
 * @param wall milliseconds since the epoch
 * @param monotonic milliseconds of a monotonic clock
 */
export function steadyClock(wall = Date.now, monotonic = () => performance.now()): SteadyClock {
  let now = wall()
  let seen = monotonic()
  return () => {
    const tick = monotonic()
    const steady = now + (tick - seen)
    seen = tick
    now = Math.max(steady, wall())
    return now
  }
}
