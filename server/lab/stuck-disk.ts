import type { ClosedGate, FlushGate } from '../store/storage.ts'
import { monotonic } from '../store/system/time.ts'

/**
 * Simulates a disk that does not respond, by delaying every flush. Ends after a given time, because the operator may
 * have left.
 */
export class StuckDisk implements FlushGate {
  #closed: (ClosedGate & { open: () => void }) | undefined
  #endsAt = 0
  #end: NodeJS.Timeout | undefined

  get closed(): ClosedGate | undefined {
    return this.#closed
  }

  /** End of the simulation, in milliseconds since the epoch; 0: flushes are not delayed. */
  get endsAt(): number {
    return this.#endsAt
  }

  begin(minutes: number): void {
    clearTimeout(this.#end)
    this.#endsAt = Date.now() + minutes * 60_000
    this.#end = setTimeout(() => this.end(), minutes * 60_000).unref()
    if (this.#closed !== undefined) return
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    this.#closed = { since: monotonic(), opened, open }
  }

  end(): void {
    clearTimeout(this.#end)
    this.#endsAt = 0
    this.#closed?.open()
    this.#closed = undefined
  }
}
