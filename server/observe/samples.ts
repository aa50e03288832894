import type { Sample } from '../../shared/console/site.ts'
import type { Observation, RequestObserver } from './observation.ts'

interface SampleCounters {
  people(): number
  /** Returns the number of devices in rooms. */
  devices(): number
}

/** Interval of samples in milliseconds, and number of samples kept: 15 minutes. */
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

  /** @param now returns milliseconds since the epoch */
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

  /** Returns the samples, oldest first. */
  list(): Sample[] {
    return [...this.#samples]
  }

  /** Takes a sample now; also called by a timer every 5 s. */
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

  /** Registers a listener that is called with every sample. Returns the unsubscribe function. */
  onSample(listener: (sample: Sample) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
  }
}

/**
 * A histogram of milliseconds for percentiles: eight buckets per doubling, from 10 µs to about a minute, so its error
 * is at most 9 %.
 */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(184)
  #total = 0

  /** Counts a value. O(1). */
  add(milliseconds: number): void {
    const index = milliseconds <= 0.01 ? 0 : Math.min(183, (Math.log2(milliseconds * 100) * 8) | 0)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total++
  }

  /** Returns the value below which this share (0 to 1) of values lies, in milliseconds; 0: no values. */
  percentile(share: number): number {
    let left = Math.ceil(this.#total * share)
    if (this.#total === 0) return 0
    for (const [index, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return Math.round(2 ** ((index + 1) / 8) * 10) / 1000
    }
    return 0
  }

  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }
}
