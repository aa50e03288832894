import { readFileSync } from 'node:fs'

/** Share of an interval, 0 to 1, above which the machine counts as busy: a runnable program waited for a core more often than not. */
const busyShare = 0.5

/**
 * Pressure on the processor over an interval (Linux, PSI: /proc/pressure/cpu). It covers exactly the interval of the bound, because a machine that was quiet
 * before need not be quiet then.
 */
export class MachineLoad {
  readonly #startedAt = performance.now()
  readonly #stalledBefore = stalledMicroseconds()

  /** Share of the time since the start, 0 to 1, in which a runnable program waited for a core; 0 if the system does not report it. */
  get share(): number {
    const milliseconds = performance.now() - this.#startedAt
    return milliseconds <= 0 ? 0 : (stalledMicroseconds() - this.#stalledBefore) / 1_000 / milliseconds
  }

  /** Returns the bound that applies: the strict one, unless the machine was busy. */
  bound({ quiet, busy }: { quiet: number; busy: number }): number {
    return this.share > busyShare ? busy : quiet
  }
}

/** Reads the stall time since the system started. */
function stalledMicroseconds(): number {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0)
  } catch {
    // Another system, or a kernel without PSI: the strict bound applies.
    return 0
  }
}
