/** A clock in milliseconds since the epoch that never goes back. */
export type SteadyClock = () => number

/**
 * Follows the wall clock forwards (also over a suspended machine) and goes on at the pace of the monotonic clock when the wall clock is
 * set back: nothing that counts time with it is ended early or prolonged by a jump back.
 * @param wall milliseconds since the epoch
 * @param monotonic milliseconds of a clock that is never set
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
