import type { Lifetime } from '../base/lifetime.ts'
import type { LinkCounts, LinkEstimate } from './link-estimate.ts'

/** Milliseconds from one look to the next, of each step at least, and of the last one. */
const everyMs = 20
const stepMs = 450
const lastStepMs = 700
/** The first step sends hardly more than was sent before: it may take so long until the viewer's estimate rises. The others are shorter: the queue of a link that is too small fills. */
const firstStepMs = 1_200
const maxStepMs = 650
/** How much more each step sends than the one before. */
const factor = 1.4
/** An estimate has risen, or fallen, where it differs by so much from what it was so many milliseconds ago, or when the step began: it comes five times a second. */
const justNow = 300
const risen = 1.002
const fallen = 0.99
const noSay = 0.5
/** So many packets, and such a share of them, are not missed in a step by chance. */
const minMissed = 4
const muchMissed = 0.15
/** A queue that grew so much since the probe began, in milliseconds, tells of a link that is full; one that grew so much in a step of one that soon will be. */
const longQueueMs = 60
const grownMs = 40
/** One that grew no more than so much in a step did not grow: the link carries the step, although the viewer holds an estimate that fell for seconds. */
const unchangedMs = 15
/** Round trips that are measured in a step, where the viewer reports so often, and milliseconds between. */
const readingsPerStep = 2
const measureEveryMs = 120
/** Padding at once, in bytes: what a late timer owes is not made up for in one go. */
const maxAtOnce = 12_000

/** How a probe is made. */
export interface ProbeOptions {
  /** Bits a second: what the first step sends, and what the link must carry. */
  from: number
  to: number
  estimate: LinkEstimate
  /** Sends a packet of padding. Returns its bytes; 0 when none may be sent now. */
  sendPadding: () => number
  /** Has the round trip measured now. */
  measure: () => void
  lifetime: Lifetime
  /** Told once: whether the link carries so much. */
  done: (carries: boolean) => void
}

/** Finds out whether a link carries more than is sent, by padding that grows in steps until that is reached or the viewer's link shows signs of strain. */
export class Probe {
  readonly #options: ProbeOptions
  readonly #began = performance.now()
  #target: number
  #stepAt = this.#began
  #countsAtStep: LinkCounts
  #estimateAtStep: number | undefined
  readonly #queueAtBegin: number
  #queueAtStep: number
  #readingsAtStep: number
  #measuredAt = -Infinity
  #first = true
  /** Of the last moments, the oldest first. */
  readonly #estimates: (number | undefined)[] = []
  #over = false

  constructor(options: ProbeOptions) {
    this.#options = options
    this.#target = Math.min(options.from, options.to)
    this.#countsAtStep = options.estimate.counts
    this.#estimateAtStep = options.estimate.bitrate
    this.#queueAtBegin = options.estimate.queue.latest
    this.#queueAtStep = this.#queueAtBegin
    this.#readingsAtStep = options.estimate.queue.readings
    this.#look()
  }

  /** Ends it without a word. */
  stop(): void {
    this.#over = true
  }

  #look(): void {
    if (this.#over) return
    const { estimate, to, lifetime } = this.#options
    const now = performance.now()
    if (estimate.strained(this.#began) || this.#changeOfEstimate < fallen || this.#misses) return this.#end(false)
    if (this.#readings > 0 && estimate.queue.ms > this.#queueAtBegin + longQueueMs) return this.#end(false)
    this.#noteEstimate()
    const elapsed = now - this.#stepAt
    const late = elapsed >= (this.#first ? firstStepMs : maxStepMs)
    if (elapsed >= (this.#target >= to ? lastStepMs : stepMs)) {
      const carried = this.#rising && this.#queueIsShort && (late || this.#readings >= readingsPerStep)
      if (carried || (late && this.#queueStays)) {
        if (this.#target >= to) return this.#end(true)
        this.#step(now)
      } else if (late) return this.#end(false)
    }
    this.#measure(now)
    this.#pad(now)
    lifetime.after(everyMs, () => this.#look())
  }

  #step(now: number): void {
    const { estimate, to } = this.#options
    this.#first = false
    this.#target = Math.min(to, this.#target * factor)
    this.#stepAt = now
    this.#countsAtStep = estimate.counts
    this.#estimateAtStep = estimate.bitrate
    this.#queueAtStep = estimate.queue.latest
    this.#readingsAtStep = estimate.queue.readings
  }

  /** Round trips that were measured in this step. */
  get #readings(): number {
    return this.#options.estimate.queue.readings - this.#readingsAtStep
  }

  /** As far as is known. */
  get #queueIsShort(): boolean {
    return this.#readings === 0 || this.#options.estimate.queue.latest <= this.#queueAtStep + grownMs
  }

  /** By what was measured. */
  get #queueStays(): boolean {
    return this.#readings >= readingsPerStep && this.#options.estimate.queue.ms <= this.#queueAtStep + unchangedMs
  }

  #measure(now: number): void {
    if (now - this.#measuredAt < measureEveryMs) return
    this.#measuredAt = now
    this.#options.measure()
  }

  /** What the viewer estimates, in parts of what it did when the step began. One that estimates nothing has no say. */
  get #changeOfEstimate(): number {
    const { bitrate } = this.#options.estimate
    return bitrate === undefined ? 1 : bitrate / (this.#estimateAtStep ?? bitrate)
  }

  /** While a link carries what is sent, the viewer's estimate rises all the time: also just now. */
  get #rising(): boolean {
    const { bitrate } = this.#options.estimate
    // Far below what passes it is of a time when little was sent, and takes minutes to get here.
    if (bitrate === undefined || bitrate < this.#target * noSay) return true
    return bitrate >= (this.#estimates[0] ?? bitrate) * risen
  }

  #noteEstimate(): void {
    this.#estimates.push(this.#options.estimate.bitrate)
    if (this.#estimates.length > justNow / everyMs) this.#estimates.shift()
  }

  get #misses(): boolean {
    const { missed, packets } = this.#options.estimate.counts
    const ofStep = missed - this.#countsAtStep.missed
    return ofStep >= minMissed && ofStep >= muchMissed * (packets - this.#countsAtStep.packets)
  }

  /** As much as the step lacks so far. */
  #pad(now: number): void {
    const { estimate, sendPadding } = this.#options
    const wanted = (this.#target * (now - this.#stepAt)) / 8_000
    let lacking = Math.min(maxAtOnce, wanted - (estimate.counts.bytes - this.#countsAtStep.bytes))
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
