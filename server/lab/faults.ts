import type { FaultRule } from '../../shared/console/lab.ts'
import type { Fault, RequestFaults } from '../http/request-faults.ts'

/** The lab's fault rules: they make operations of both APIs fail, wait or drop. A listener asks `active` first, so without rules they cost nothing. */
export class FaultRules implements RequestFaults {
  /** Whether any rule is in force. */
  active = false
  #rules: FaultRule[] = []
  readonly #listeners = new Set<() => void>()
  readonly #random: () => number

  /** @param random a number from 0 to below 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** The rules in force; `times` is what is left of it. */
  list(): FaultRule[] {
    return this.#rules.map((rule) => ({ ...rule }))
  }

  /** Replaces the rules. */
  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ ...rule }))
    this.#changed()
  }

  /** The fault that hits this request of an operation: the first rule that matches and whose probability says so. */
  hit(operation: string): Fault | undefined {
    for (const rule of this.#rules) {
      if (rule.operation !== '*' && rule.operation !== operation) continue
      if (rule.probability < 1 && this.#random() >= rule.probability) continue
      if (rule.times === 1) {
        this.#rules = this.#rules.filter((other) => other !== rule)
        this.#changed()
      } else if (rule.times > 1) rule.times--
      return { delay: rule.delay_ms, ret: rule.ret, drop: rule.drop }
    }
    return undefined
  }

  /** Called when rules are set or one has ended. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    this.active = this.#rules.length > 0
    for (const listener of this.#listeners) listener()
  }
}
