import type { FaultInForce, WantedFault } from '../../shared/console/lab.ts'
import { sleep } from '../../shared/sleep.ts'
import type { Listener } from '../http/listener.ts'
import type { RunnerDecorator } from '../http/request-handler.ts'

/** Maximum duration of a rule, in milliseconds. */
const maxRuleMs = 24 * 60 * 60_000

/** Fault rules of the lab, which make operations of both APIs fail, wait or drop connections. */
export class FaultRules {
  /** Whether there is any rule. */
  active = false
  #rules: FaultInForce[] = []
  #ending: NodeJS.Timeout | undefined
  readonly #listeners = new Set<() => void>()
  readonly #usualRandom: () => number
  #random: () => number
  readonly #clock: () => number

  /**
   * @param random returns a number from 0 to below 1
   * @param clock returns milliseconds since the epoch
   */
  constructor(random: () => number = Math.random, clock: () => number = Date.now) {
    this.#usualRandom = random
    this.#random = random
    this.#clock = clock
  }

  /** Draws from this function, such as that of a seed; undefined: from the usual one. */
  useRandom(random: (() => number) | undefined): void {
    this.#random = random ?? this.#usualRandom
  }

  /** Returns the active rules; `times` is the remaining number of faults. */
  list(): FaultInForce[] {
    return this.#rules.map((rule) => ({ ...rule }))
  }

  /** Replaces the rules. A rule without `ends_at` ends after its `minutes`. Every rule ends after at most one day. */
  set(rules: readonly WantedFault[]): void {
    const now = this.#clock()
    this.#rules = rules.map((rule) => ({
      ...rule,
      ends_at: Math.min(rule.ends_at ?? now + rule.minutes * 60_000, now + maxRuleMs),
    }))
    this.#endOver()
  }

  /** Returns the fault for a request of an operation: the first matching rule that its probability selects. */
  hit(operation: string): RequestFault | undefined {
    const now = this.#clock()
    for (const rule of this.#rules) {
      if (rule.ends_at <= now || (rule.operation !== '*' && rule.operation !== operation)) continue
      if (rule.probability < 1 && this.#random() >= rule.probability) continue
      if (rule.times === 1) {
        this.#rules = this.#rules.filter((other) => other !== rule)
        this.#changed()
      } else if (rule.times > 1) {
        rule.times--
        this.#changed()
      }
      return { rule: rule.operation, delay: rule.delay_ms, ret: rule.ret, drop: rule.drop }
    }
    return undefined
  }

  /** Decorates a listener while any rule is in force. Without rules, requests do not pass through the lab. */
  installIn(listener: Pick<Listener, 'decorate'>): void {
    const decorator = withFaults((operation) => this.hit(operation))
    let installed = false
    this.onChange(() => {
      if (this.active === installed) return
      installed = this.active
      listener.decorate(installed ? decorator : undefined)
    })
  }

  /** Calls the listener when rules are set, and when a rule with a number of applications has hit or has ended. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends expired rules, and schedules the end of the next rule. */
  #endOver(): void {
    const now = this.#clock()
    this.#rules = this.#rules.filter(({ ends_at }) => ends_at > now)
    this.#changed()
    clearTimeout(this.#ending)
    const next = Math.min(...this.#rules.map(({ ends_at }) => ends_at))
    this.#ending = Number.isFinite(next) ? setTimeout(() => this.#endOver(), next - now + 1).unref() : undefined
  }

  #changed(): void {
    this.active = this.#rules.length > 0
    for (const listener of this.#listeners) listener()
  }
}

/** Message of an answer that a fault rule gave. */
export const injectedAnswer = 'A fault rule of the lab gave this answer.'

/** Fault that is injected into one request. */
interface RequestFault {
  /** Operation of the rule, or `*`. */
  rule: string
  /** Delay before the fault or the answer, in milliseconds. */
  delay: number
  /** Error number to answer instead of running the operation; null: runs the operation. */
  ret: number | null
  /** Whether to close the connection without an answer. */
  drop: boolean
}

/**
 * Returns a decorator that injects faults into requests.
 * @param faultOf returns the fault for a request of this operation; undefined: no fault
 */
function withFaults(faultOf: (operation: string) => RequestFault | undefined): RunnerDecorator {
  return (run, funnel) => (exchange, route) => {
    const fault = faultOf(route.name)
    if (fault === undefined) return run(exchange, route)
    const { response } = exchange
    const inject = async (): Promise<void> => {
      // This header shows clients that a fault was injected.
      response.setHeader('X-Roomdesk-Fault', fault.rule)
      if (fault.delay > 0) await sleep(fault.delay, { ref: false })
      if (fault.drop) funnel.drop(exchange)
      else if (fault.ret === null) await run(exchange, route)
      else funnel.answerCode(exchange, fault.ret, injectedAnswer)
    }
    return inject()
  }
}
