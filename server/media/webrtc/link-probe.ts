import type { Lifetime } from '../base/lifetime.ts'
import type { LinkCounts, LinkEstimate } from './link-estimate.ts'

/** Interval of checks, minimum duration of a step, and minimum duration of the last step, in milliseconds. */
const everyMs = 20
const stepMs = 450
const lastStepMs = 700
/**
 * Maximum duration of the first step, in milliseconds. This step sends hardly more than before, and the viewer's
 * estimate rises with a delay.
 */
const maxFirstStepMs = 1_200
/** Maximum duration of the other steps, in milliseconds: they fill the queue of a link that is too small. */
const maxStepMs = 650
/** Growth of the rate from step to step. */
const factor = 1.4
/** Age, in milliseconds, of the estimate that a new estimate is compared with. Estimates come five times a second. */
const justNowMs = 300
/**
 * Factors that detect a change of the estimate. A rise is at least `risen` times the earlier estimate. A fall is below
 * `fallen` times the estimate at the start of the step.
 */
const risen = 1.002
const fallen = 0.99
/**
 * Share of the step's rate below which an estimate is outdated: the estimate dates from a time when little was sent.
 */
const outdated = 0.5
/** Minimum number and share of packets missed in a step that shows a full link. */
const minMissed = 4
const muchMissed = 0.15
/** Growth of the queueing delay, in milliseconds, that shows a full link: since the probe began, and in one step. */
const longQueueMs = 60
const grownMs = 40
/**
 * Maximum growth of the queueing delay, in milliseconds, in a step that the link carries. A fallen estimate is ignored
 * then, because the viewer keeps it for seconds.
 */
const unchangedMs = 15
/** Round trips measured per step, if the viewer reports often enough, and their interval in milliseconds. */
const readingsPerStep = 2
const measureEveryMs = 120
/** Maximum padding per check, in bytes: a late timer does not catch up at once. */
const maxAtOnce = 12_000

export interface LinkProbeOptions {
  /** Rate of the first step, and rate that the link must carry, in bits per second. */
  from: number
  to: number
  estimate: LinkEstimate
  /** Sends a padding packet. Returns its size in bytes; 0 if none may be sent now. */
  sendPadding: () => number
  /** Starts a measurement of the round trip. */
  measure: () => void
  lifetime: Lifetime
  /** Called once with whether the link carries the rate `to`. */
  done: (carries: boolean) => void
}

/** One step of a probe: its rate, and the state of the viewer's link when it began. */
interface Step {
  readonly first: boolean
  /** Bits per second. */
  readonly target: number
  readonly beganAt: number
  readonly counts: Readonly<LinkCounts>
  readonly estimate: number | undefined
  readonly queueMs: number
  readonly readings: number
}

/**
 * Measures whether a link carries more than is sent. Padding grows in steps until the goal is reached or the link shows
 * strain.
 */
export class LinkProbe {
  readonly #options: LinkProbeOptions
  readonly #began = performance.now()
  readonly #queueAtBegin: number
  #step: Step
  #measuredAt = -Infinity
  /** Recent estimates, oldest first. */
  readonly #estimates: (number | undefined)[] = []
  #over = false

  constructor(options: LinkProbeOptions) {
    this.#options = options
    this.#queueAtBegin = options.estimate.queue.latest
    this.#step = stepOf(options.estimate, Math.min(options.from, options.to), this.#began, true)
    this.#check()
  }

  /** Ends the probe without calling `done`. */
  stop(): void {
    this.#over = true
  }

  #check(): void {
    if (this.#over) return
    const { estimate, to, lifetime } = this.#options
    const now = performance.now()
    if (estimate.strained(this.#began) || this.#changeOfEstimate < fallen || this.#misses) return this.#end(false)
    if (this.#readings > 0 && estimate.queue.ms > this.#queueAtBegin + longQueueMs) return this.#end(false)
    this.#noteEstimate()
    const { beganAt, first, target } = this.#step
    const elapsed = now - beganAt
    const late = elapsed >= (first ? maxFirstStepMs : maxStepMs)
    if (elapsed >= (target >= to ? lastStepMs : stepMs)) {
      const passed = this.#rising && this.#queueIsShort && (late || this.#readings >= readingsPerStep)
      if (passed || (late && this.#queueStays)) {
        if (target >= to) return this.#end(true)
        this.#step = stepOf(estimate, Math.min(to, target * factor), now, false)
      } else if (late) return this.#end(false)
    }
    this.#measure(now)
    this.#pad(now)
    lifetime.after(everyMs, () => this.#check())
  }

  get #readings(): number {
    return this.#options.estimate.queue.readings - this.#step.readings
  }

  /** Whether the queue is short by the latest measurement. */
  get #queueIsShort(): boolean {
    return this.#readings === 0 || this.#options.estimate.queue.latest <= this.#step.queueMs + grownMs
  }

  /** Whether enough round trips show that the queue did not grow. */
  get #queueStays(): boolean {
    return this.#readings >= readingsPerStep && this.#options.estimate.queue.ms <= this.#step.queueMs + unchangedMs
  }

  #measure(now: number): void {
    if (now - this.#measuredAt < measureEveryMs) return
    this.#measuredAt = now
    this.#options.measure()
  }

  /** Ratio of the viewer's estimate to the estimate at the start of the step; 1 if the viewer sends no estimates. */
  get #changeOfEstimate(): number {
    const { bitrate } = this.#options.estimate
    return bitrate === undefined ? 1 : bitrate / (this.#step.estimate ?? bitrate)
  }

  /**
   * Whether the viewer's estimate rises; also true without a current estimate. It rises constantly while the link
   * carries the sent bitrate.
   */
  get #rising(): boolean {
    const { bitrate } = this.#options.estimate
    // An outdated estimate takes minutes to reach the sent rate.
    if (bitrate === undefined || bitrate < this.#step.target * outdated) return true
    return bitrate >= (this.#estimates[0] ?? bitrate) * risen
  }

  #noteEstimate(): void {
    this.#estimates.push(this.#options.estimate.bitrate)
    if (this.#estimates.length > justNowMs / everyMs) this.#estimates.shift()
  }

  /** Whether more packets are missed in this step than by chance. */
  get #misses(): boolean {
    const { missed, packets } = this.#options.estimate.counts
    const ofStep = missed - this.#step.counts.missed
    return ofStep >= minMissed && ofStep >= muchMissed * (packets - this.#step.counts.packets)
  }

  /** Sends the padding that the step still lacks. */
  #pad(now: number): void {
    const { estimate, sendPadding } = this.#options
    const { beganAt, counts, target } = this.#step
    const wanted = (target * (now - beganAt)) / 8_000
    let lacking = Math.min(maxAtOnce, wanted - (estimate.counts.bytes - counts.bytes))
    while (lacking > 0) {
      const bytes = sendPadding()
      if (bytes === 0) return
      lacking -= bytes
    }
  }

  #end(carries: boolean): void {
    this.#over = true
    this.#options.done(carries)
  }
}

function stepOf(estimate: LinkEstimate, target: number, now: number, first: boolean): Step {
  const { bitrate, counts, queue } = estimate
  return { first, target, beganAt: now, counts, estimate: bitrate, queueMs: queue.latest, readings: queue.readings }
}
