import { readFileSync } from 'node:fs'

/** Share of an interval, 0 to 1, above which the machine counts as busy: a program that could run had to wait for a core more often than not. */
const busyShare = 0.5

/**
 * Pressure on the processor over an interval (Linux, PSI: /proc/pressure/cpu). It is measured in the very interval that a bound is about, since a machine that was quiet
 * before need not be quiet then.
 */
export class MachineLoad {
  readonly #startedAt = performance.now()
  readonly #stalledBefore = stalledMicroseconds()

  /** Share of the time since the start, 0 to 1, in which a program that could run waited for a core; 0 where the system does not say. */
  get share(): number {
    const milliseconds = performance.now() - this.#startedAt
    return milliseconds <= 0 ? 0 : (stalledMicroseconds() - this.#stalledBefore) / 1_000 / milliseconds
  }

  /** The bound that holds: the strict one, unless the machine was busy. */
  bound({ quiet, busy }: { quiet: number; busy: number }): number {
    return this.share > busyShare ? busy : quiet
  }
}

/** Since the system started. */
function stalledMicroseconds(): number {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0)
  } catch {
    // Another system, or a kernel without it: the strict bound holds.
    return 0
  }
}
