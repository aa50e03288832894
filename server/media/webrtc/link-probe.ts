import type { Lifetime } from '../base/lifetime.ts'
import type { LinkCounts, LinkEstimate } from './link-estimate.ts'

/** Interval of checks, and duration of a step and of the last one at least, in milliseconds. */
const everyMs = 20
const stepMs = 450
const lastStepMs = 700
/** Longest first step, in milliseconds: it sends hardly more than before, and the viewer's estimate rises late. */
const maxFirstStepMs = 1_200
/** Longest step of the others: they fill the queue of a link that is too small. */
const maxStepMs = 650
/** Growth of what is sent from step to step. */
const factor = 1.4
/** Age, in milliseconds, of the estimate that a new one is compared with: it comes five times a second. */
const justNowMs = 300
/** Parts of the estimate before above which one has risen, and of the one when the step began below which it has fallen. */
const risen = 1.002
const fallen = 0.99
/** Part of what is sent below which an estimate is of a time when little was sent. */
const outdated = 0.5
/** Number and share of packets that are not missed in a step by chance. */
const minMissed = 4
const muchMissed = 0.15
/** Growth of the queue, in milliseconds, that shows a full link: since the probe began, and in one step. */
const longQueueMs = 60
const grownMs = 40
/** Growth of the queue in a step, in milliseconds, that is none: the link carries the step, although the viewer holds a fallen estimate for seconds. */
const unchangedMs = 15
/** Round trips to be measured in a step, where the viewer reports so often, and milliseconds between. */
const readingsPerStep = 2
const measureEveryMs = 120
/** Padding at once, in bytes: a late timer does not catch up in one go. */
const maxAtOnce = 12_000

/** Range, means and result of a probe. */
export interface LinkProbeOptions {
  /** Rate of the first step, and rate that the link must carry, in bits a second. */
  from: number
  to: number
  estimate: LinkEstimate
  /** Sends a packet of padding. Returns its bytes; 0 when none may be sent now. */
  sendPadding: () => number
  /** Measures the round trip now. */
  measure: () => void
  lifetime: Lifetime
  /** Called once with whether the link carries so much. */
  done: (carries: boolean) => void
}

/** One step of a probe: the rate that it sends, and the viewer's link when it began. */
interface Step {
  readonly first: boolean
  /** Bits a second. */
  readonly target: number
  readonly beganAt: number
  readonly counts: Readonly<LinkCounts>
  readonly estimate: number | undefined
  readonly queueMs: number
  readonly readings: number
}

/** Finds out whether a link carries more than is sent, by padding that grows in steps until the goal is reached or the link shows strain. */
export class LinkProbe {
  readonly #options: LinkProbeOptions
  readonly #began = performance.now()
  readonly #queueAtBegin: number
  #step: Step
  #measuredAt = -Infinity
  /** Estimates of the last moments, the oldest first. */
  readonly #estimates: (number | undefined)[] = []
  #over = false

  constructor(options: LinkProbeOptions) {
    this.#options = options
    this.#queueAtBegin = options.estimate.queue.latest
    this.#step = stepOf(options.estimate, Math.min(options.from, options.to), this.#began, true)
    this.#check()
  }

  /** Ends it; `done` is not called. */
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

  /** Number of round trips in this step. */
  get #readings(): number {
    return this.#options.estimate.queue.readings - this.#step.readings
  }

  /** Whether the queue is short, by the latest measurement. */
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

  /** Estimate of the viewer, in parts of the one when the step began; 1 for a viewer that estimates nothing. */
  get #changeOfEstimate(): number {
    const { bitrate } = this.#options.estimate
    return bitrate === undefined ? 1 : bitrate / (this.#step.estimate ?? bitrate)
  }

  /** Whether the viewer's estimate rises, as it does all the time while the link carries what is sent. */
  get #rising(): boolean {
    const { bitrate } = this.#options.estimate
    // An outdated estimate takes minutes to get here.
    if (bitrate === undefined || bitrate < this.#step.target * outdated) return true
    return bitrate >= (this.#estimates[0] ?? bitrate) * risen
  }

  #noteEstimate(): void {
    this.#estimates.push(this.#options.estimate.bitrate)
    if (this.#estimates.length > justNowMs / everyMs) this.#estimates.shift()
  }

  /** Whether more is missed in this step than by chance. */
  get #misses(): boolean {
    const { missed, packets } = this.#options.estimate.counts
    const ofStep = missed - this.#step.counts.missed
    return ofStep >= minMissed && ofStep >= muchMissed * (packets - this.#step.counts.packets)
  }

  /** Sends the padding that the step lacks so far. */
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
