import type { Sample } from '../../shared/console/site.ts'
import { LatencyHistogram } from './latency.ts'
import type { Observation, RequestObserver } from './observation.ts'

/** Counted by others, when a sample is taken. */
export interface SampleCounters {
  /** People in rooms. */
  people(): number
  /** Outgoing users in rooms. */
  devices(): number
}

/** A sample every 5 s, for 15 minutes. */
const everyMs = 5_000
const kept = 180

/** The points of the console's live charts. */
export class Samples implements RequestObserver {
  readonly #counters: SampleCounters
  readonly #now: () => number
  readonly #latency = new LatencyHistogram()
  readonly #samples: Sample[] = []
  readonly #listeners = new Set<(sample: Sample) => void>()
  readonly #timer: NodeJS.Timeout
  #failures = new Map<number, number>()
  #media = 0
  #device = 0
  #began: number

  /** @param now milliseconds since the epoch */
  constructor(counters: SampleCounters, { intervalMs = everyMs, now = Date.now } = {}) {
    this.#counters = counters
    this.#now = now
    this.#began = performance.now()
    this.#timer = setInterval(() => this.take(), intervalMs)
    this.#timer.unref()
  }

  observe({ api, ret, duration }: Observation): void {
    if (api === 'media') this.#media++
    else this.#device++
    this.#latency.add(duration)
    if (ret !== 0) this.#failures.set(ret, (this.#failures.get(ret) ?? 0) + 1)
  }

  /** Oldest first. */
  list(): Sample[] {
    return [...this.#samples]
  }

  /** Takes a sample now; called by itself every 5 s. */
  take(): void {
    const ended = performance.now()
    const sample: Sample = {
      at: this.#now(),
      seconds: Math.round(ended - this.#began) / 1000,
      media_requests: this.#media,
      device_requests: this.#device,
      failures: Object.fromEntries(this.#failures),
      p50: this.#latency.percentile(0.5),
      p99: this.#latency.percentile(0.99),
      people: this.#counters.people(),
      devices: this.#counters.devices(),
    }
    this.#began = ended
    this.#media = 0
    this.#device = 0
    this.#failures = new Map()
    this.#latency.clear()
    if (this.#samples.push(sample) > kept) this.#samples.shift()
    for (const listener of this.#listeners) listener(sample)
  }

  /** Calls the listener with every sample. Returns the unsubscribe function. */
  onSample(listener: (sample: Sample) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes no more samples. */
  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
  }
}
