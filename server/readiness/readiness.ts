import { type FindingName, readinessFindings } from '../../shared/console/readiness-findings.ts'
import { type ReadinessCheck, readinessChecks, type ReadinessResult } from '../../shared/console/readiness.ts'
import { fill, type Values } from '../../shared/refusals/template.ts'
import sentences from '../../texts/en/console/readinessFindings.json' with { type: 'json' }
import type { Log } from '../observe/log.ts'
import { withoutSecretText } from '../observe/redaction/log-fields.ts'

/** Result of a check, without its name and time. */
export interface Finding {
  finding: FindingName
  values: Values
}

/**
 * A check, whose signal aborts at the timeout.
 * @throws any error, which is reported as `checkFailed`
 */
export type Check = (signal: AbortSignal) => Promise<Finding>

type FindingValues<N extends FindingName> = Readonly<
  Record<(typeof readinessFindings)[N]['values'][number], string | number>
>
/** Arguments with the values of a finding; empty for a finding without values. */
type FindingArguments<N extends FindingName> = keyof FindingValues<N> extends never ? [] : [values: FindingValues<N>]

/** Creates a finding with the values for its sentences. */
export function found<N extends FindingName>(finding: N, ...given: FindingArguments<N>): Finding {
  return { finding, values: given[0] ?? {} }
}

/** Returns the English sentences of a finding. */
export function sentencesOf({ finding, values }: Finding): { message: string; advice: string } {
  const worded = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withUnit(name, value)]))
  const { message, advice } = sentences[finding]
  return { message: fill(message, worded), advice: fill(advice, worded) }
}

/** Appends the unit to a value, according to the suffix of its name. */
function withUnit(name: string, value: string | number): string | number {
  if (typeof value === 'string') return value
  if (name.endsWith('_ms')) return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`
  if (name.endsWith('_bytes')) return `${(value / 1e9).toFixed(1)} GB`
  return value
}

/** Checks of a machine, by name. Absent checks do not apply to the machine. */
export type Checks = Readonly<Partial<Record<ReadinessCheck, Check>>>

/** Timeouts in milliseconds; default: 5 s. The maximum is 20 s. */
const limits: Readonly<Partial<Record<ReadinessCheck, number>>> = { ffmpeg: 12_000, disk: 15_000, firewall: 10_000 }
const usualLimitMs = 5_000
const maxReasonCharacters = 200

/**
 * Runs the checks of a machine concurrently, each with a timeout. A check that fails or hangs is reported and does not
 * affect the others.
 */
export class Readiness {
  readonly #checks: Checks
  readonly #log: Pick<Log, 'warn'>
  readonly #limitMs: (check: ReadinessCheck) => number
  readonly #running = new Map<ReadinessCheck, Promise<ReadinessResult>>()
  /** Checks that are still running after their timeout. A hanging check is not started again before it ends. */
  readonly #hanging = new Set<ReadinessCheck>()

  /** @param limitMs timeout of a check in milliseconds */
  constructor(
    checks: Checks,
    log: Pick<Log, 'warn'>,
    limitMs: (check: ReadinessCheck) => number = (check) => limits[check] ?? usualLimitMs,
  ) {
    this.#checks = checks
    this.#log = log
    this.#limitMs = limitMs
  }

  /** Checks that apply to this machine, in the order of the page. */
  get names(): ReadinessCheck[] {
    return readinessChecks.filter((name) => this.#checks[name] !== undefined)
  }

  /** Runs the given checks, or all. Concurrent callers share one run. Never rejects. */
  async run(names: readonly ReadinessCheck[] = this.names): Promise<ReadinessResult[]> {
    return await Promise.all(this.names.filter((name) => names.includes(name)).map((name) => this.#share(name)))
  }

  #share(name: ReadinessCheck): Promise<ReadinessResult> {
    const running = this.#running.get(name)
    if (running !== undefined) return running
    const started = this.#result(name).finally(() => this.#running.delete(name))
    this.#running.set(name, started)
    return started
  }

  async #result(check: ReadinessCheck): Promise<ReadinessResult> {
    const began = performance.now()
    const finding = await this.#outcome(check)
    const { finding: name, values } = finding
    const took_ms = Math.round((performance.now() - began) * 10) / 10
    return {
      check,
      state: readinessFindings[name].state,
      finding: name,
      values,
      ...sentencesOf(finding),
      took_ms,
      at: Date.now(),
    }
  }

  async #outcome(name: ReadinessCheck): Promise<Finding> {
    const limitMs = this.#limitMs(name)
    const timedOut = found('checkTimedOut', { seconds: Math.ceil(limitMs / 1_000) })
    const run = this.#checks[name]
    if (run === undefined || this.#hanging.has(name)) return timedOut
    const limit = Promise.withResolvers<Finding>()
    const abort = new AbortController()
    const timer = setTimeout(() => {
      this.#hanging.add(name)
      abort.abort(new Error('time limit'))
      limit.resolve(timedOut)
    }, limitMs)
    const ended = this.#guarded(name, run, abort.signal).finally(() => {
      clearTimeout(timer)
      this.#hanging.delete(name)
    })
    return await Promise.race([ended, limit.promise])
  }

  async #guarded(check: ReadinessCheck, run: Check, signal: AbortSignal): Promise<Finding> {
    try {
      return await run(signal)
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error, check }, 'a readiness check failed')
      return found('checkFailed', { reason: findingReasonOf(error) })
    }
  }
}

/** Returns the reason of an error for the page, without secrets. */
export function findingReasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return withoutSecretText(text.split('\n', 1)[0] ?? '').slice(0, maxReasonCharacters)
}
