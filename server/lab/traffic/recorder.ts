import type { TrafficState } from '../../../shared/console/lab.ts'
import { operationsByName } from '../../../shared/operations.ts'
import type { Observation, RequestObserver } from '../../observe/observation.ts'
import { type TrafficCall, type trafficHead } from './format.ts'
import type { z } from 'zod'
import { recordedAnswer, recordedParameters } from './without-secrets.ts'

/** Maximum length of a recording, in characters. It is kept in memory. */
const maxLength = 32 * 1024 * 1024

/** A recording in memory. */
interface Recording {
  readonly beganAt: number
  /** Start, in milliseconds of the monotonic clock. */
  readonly began: number
  endsAt: number
  full: boolean
  readonly lines: string[]
  length: number
  skipped: number
  /** Numbers of the callers, by access_key. */
  readonly callers: Map<string, number>
}

/**
 * Records requests of clients and the answers, without secrets, from `begin` until `end`. The last recording is kept in
 * memory until the next one.
 */
export class TrafficRecorder implements RequestObserver {
  readonly #product: string
  #recording: Recording | undefined
  #ending: NodeJS.Timeout | undefined

  /** @param product version of the product, for the file */
  constructor(product: string) {
    this.#product = product
  }

  /** Starts a new recording, which replaces the last one. @param durationMs until it ends by itself */
  begin(durationMs: number): void {
    const now = Date.now()
    this.#recording = {
      beganAt: now,
      began: performance.now(),
      endsAt: now + durationMs,
      full: false,
      lines: [],
      length: 0,
      skipped: 0,
      callers: new Map(),
    }
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => this.end(), durationMs).unref()
  }

  /** Ends the running recording, if there is one. */
  end(): void {
    clearTimeout(this.#ending)
    this.#ending = undefined
    if (this.#recording !== undefined) this.#recording.endsAt = Math.min(this.#recording.endsAt, Date.now())
  }

  get state(): TrafficState {
    const recording = this.#recording
    return {
      began_at: recording?.beganAt ?? 0,
      ends_at: recording?.endsAt ?? 0,
      running: this.#running,
      calls: recording?.lines.length ?? 0,
      skipped: recording?.skipped ?? 0,
      full: recording?.full ?? false,
    }
  }

  /** Returns the recording as NDJSON; empty: there is none. */
  get text(): string {
    const recording = this.#recording
    if (recording === undefined) return ''
    const head: z.output<typeof trafficHead> = {
      format: 'roomdesk-traffic',
      version: 1,
      began_at: recording.beganAt,
      product: this.#product,
    }
    return [JSON.stringify(head), ...recording.lines, ''].join('\n')
  }

  observe(observation: Observation): void {
    const recording = this.#recording
    if (recording === undefined || !this.#running) return
    const operation = operationsByName.get(observation.operation)
    const { method } = observation
    if (operation === undefined || (method !== 'GET' && method !== 'POST')) {
      recording.skipped += 1
      return
    }
    const call: TrafficCall = {
      at: Math.max(0, Math.round(performance.now() - observation.duration - recording.began)),
      took: Math.round(observation.duration),
      operation: observation.operation,
      method,
      params: recordedParameters(operation, observation.params),
      caller: numberOf(recording, observation.credential),
      ret: observation.ret,
      answer: observation.ret === 0 ? recordedAnswer(operation, observation.text ?? '{}') : {},
    }
    const line = JSON.stringify(call)
    if (recording.length + line.length > maxLength) {
      recording.full = true
      return this.end()
    }
    recording.lines.push(line)
    recording.length += line.length
  }

  get #running(): boolean {
    return this.#ending !== undefined
  }
}

function numberOf({ callers }: Recording, accessKey: string): number {
  if (accessKey === '') return 0
  const known = callers.get(accessKey) ?? callers.size + 1
  callers.set(accessKey, known)
  return known
}
