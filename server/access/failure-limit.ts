import { limits } from '../../shared/limits.ts'

/** Failures of one address since its minute began. */
interface Count {
  /** On the monotonic clock. */
  began: number
  failures: number
}

const minuteMs = 60_000

/** Counts failed authentications per client address (contract, section 2). Bounded: with too many addresses the one whose minute began first is forgotten. */
export class FailureLimit {
  readonly #perMinute: () => number
  readonly #monotonic: () => number
  readonly #most: number
  /** In the order in which their minutes began. */
  readonly #counts = new Map<string, Count>()

  /**
   * @param perMinute failures allowed per address and minute; 0 is no limit
   * @param monotonic milliseconds of a clock that is never set
   */
  constructor(
    perMinute: () => number,
    monotonic: () => number = () => performance.now(),
    most: number = limits.rememberedAddresses,
  ) {
    this.#perMinute = perMinute
    this.#monotonic = monotonic
    this.#most = most
  }

  /** Whether an address has used its failures up. */
  blocked(client: string): boolean {
    const most = this.#perMinute()
    const count = this.#counts.get(client)
    if (most === 0 || count === undefined || count.failures < most) return false
    return this.#monotonic() - count.began < minuteMs
  }

  /** Counts one. */
  failed(client: string): void {
    const now = this.#monotonic()
    const count = this.#counts.get(client)
    if (count !== undefined && now - count.began < minuteMs) {
      count.failures++
      return
    }
    this.#counts.delete(client)
    if (this.#counts.size >= this.#most) {
      const { value: first } = this.#counts.keys().next()
      if (first !== undefined) this.#counts.delete(first)
    }
    this.#counts.set(client, { began: now, failures: 1 })
  }

  /** Addresses that are blocked now, for the operator's attention. */
  blockedClients(): string[] {
    return [...this.#counts.keys()].filter((client) => this.blocked(client))
  }
}
