import { type ReadinessCheck, readinessChecks, type ReadinessResult } from '../../shared/console/readiness.ts'
import { readinessFindings } from '../../shared/console/readiness-findings.ts'
import type { Log } from '../observe/log.ts'
import { withoutSecretText } from '../observe/redaction/log-fields.ts'
import { type Check, type Finding, found, sentencesOf } from './finding.ts'

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
