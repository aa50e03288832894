import { backoffMs } from '../../shared/backoff.ts'
import type { DeviceErrorKind, DeviceState } from '../../shared/device.ts'

/** Why a device is not joined. */
export interface JoinFailure {
  kind: DeviceErrorKind
  /** One plain sentence. */
  message: string
  /** What the device answered to what; left out: nothing more is known. */
  detail?: string
  /** There is nothing to try until something changes, such as the room being reopened. */
  hold?: boolean
}

/** Needs of a reconnector. */
export interface ReconnectorOptions {
  /** Joins the device, which failed so often in a row; leaves nothing behind when it is aborted. Rejects with whatever went wrong. */
  attempt(signal: AbortSignal, failures: number): Promise<void>
  failureOf(error: unknown): JoinFailure
  ladder(): LadderSettings
  /** Milliseconds since the epoch. */
  clock(): number
  /** The state or its view changed. */
  changed(): void
  /** 0 to 1, evenly; Math.random unless a test wants the waits exact. */
  random?: () => number
}

/**
 * Why an attempt begins. due: its time has come, or something was mended that had kept it out; changed: its address, login or room is another, or it was resumed;
 * operator: "try again".
 */
export type JoinCause = 'due' | 'changed' | 'operator'

/** A refused login is tried so often, then waits for a changed login or the operator: cameras lock accounts (contract, section 4). */
const maxRefusedLogins = 3

/**
 * The life of one outgoing user as one state machine. Every step out of a state raises the generation: an answer that belongs to an earlier one changes nothing.
 * State is in memory only; it follows from what happens.
 */
export class Reconnector {
  readonly #options: ReconnectorOptions
  readonly #ladder: ReconnectLadder
  #state: DeviceState = 'waiting'
  #since: number
  #retries = 0
  /** Since it last joined or its login changed. */
  #refusedLogins = 0
  #nextAttemptAt = 0
  #lastError: (JoinFailure & { at: number }) | undefined
  #generation = 0
  #attempt: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false

  constructor(options: ReconnectorOptions) {
    this.#options = options
    this.#ladder = new ReconnectLadder(() => options.ladder(), options.random)
    this.#since = options.clock()
  }

  get state(): DeviceState {
    return this.#state
  }

  /** Time at which it joined, was paused, or first left its room: an attempt does not change it. */
  get since(): number {
    return this.#since
  }

  /** Failed attempts since it was last joined. */
  get retries(): number {
    return this.#retries
  }

  /** When the next attempt is due; 0 when none is. */
  get nextAttemptAt(): number {
    return this.#nextAttemptAt
  }

  /** Why it is not joined; undefined when it is, or nothing went wrong yet. */
  get lastError(): (JoinFailure & { at: number }) | undefined {
    return this.#lastError
  }

  /** Raised by every step: who remembers an older one comes too late. */
  get generation(): number {
    return this.#generation
  }

  /** Tries now. A changed device starts again, even during an attempt or while it is joined; a login that was refused too often is tried for the operator only. */
  join(cause: JoinCause = 'due'): void {
    if (this.#ended) return
    if (cause === 'changed') {
      this.#refusedLogins = 0
      this.#ladder.reset()
    } else {
      if (this.#state === 'joining' || this.#state === 'joined') return
      if (cause === 'due' && this.#refusedLogins >= maxRefusedLogins) return
    }
    const generation = this.#step('joining')
    const controller = new AbortController()
    this.#attempt = controller
    // An attempt of the operator does not queue behind those that repeat by themselves.
    const failures = cause === 'operator' ? 0 : this.#ladder.failures
    this.#options.attempt(controller.signal, failures).then(
      () => {
        if (generation !== this.#generation) return
        this.#attempt = undefined
        this.joined()
      },
      (error: unknown) => {
        if (generation !== this.#generation) return
        this.#attempt = undefined
        this.#failed(this.#options.failureOf(error))
      },
    )
  }

  /** Its media flows. */
  joined(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#refusedLogins = 0
    this.#lastError = undefined
    this.#step('joined')
  }

  /** It was joined and dropped: tried again after the first wait, or after a longer one when it does so again and again. */
  lost(failure: JoinFailure): void {
    if (this.#ended || this.#state !== 'joined') return
    this.#wait(failure, this.#ladder.dropped(this.#options.clock() - this.#since))
  }

  /** It waits until something changes. */
  hold(failure: JoinFailure): void {
    if (this.#ended) return
    this.#wait(failure, undefined)
  }

  /** The operator takes it out of service. */
  pause(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#lastError = undefined
    this.#step('paused')
  }

  /** Takes the device out for a moment; `join` or `end` follows. */
  suspend(): void {
    if (this.#ended) return
    this.#step('waiting')
  }

  /** It is gone. */
  end(): void {
    this.#ended = true
    this.#generation += 1
    this.#stopWork()
  }

  #failed(failure: JoinFailure): void {
    this.#retries += 1
    if (failure.kind === 'auth') this.#refusedLogins += 1
    const wait = this.#ladder.failed()
    const hold = failure.hold === true || this.#refusedLogins >= maxRefusedLogins
    this.#wait(hold ? { ...failure, hold } : failure, hold ? undefined : wait)
  }

  /** Waits so many milliseconds for the next attempt, or for something to change. */
  #wait(failure: JoinFailure, milliseconds: number | undefined): void {
    const now = this.#options.clock()
    this.#lastError = { ...failure, at: now }
    const wait = milliseconds === undefined ? undefined : onTheBeat(milliseconds)
    this.#step('waiting', wait === undefined ? 0 : now + wait)
    if (wait === undefined) return
    this.#timer = setTimeout(() => this.join(), wait)
    this.#timer.unref()
  }

  #step(state: DeviceState, nextAttemptAt = 0): number {
    this.#generation += 1
    this.#stopWork()
    this.#nextAttemptAt = nextAttemptAt
    if (state !== this.#state && !(isOut(state) && isOut(this.#state))) this.#since = this.#options.clock()
    this.#state = state
    this.#options.changed()
    return this.#generation
  }

  #stopWork(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#attempt?.abort(new Error('the attempt was given up'))
    this.#attempt = undefined
  }
}

/** Waits end on a common beat, in milliseconds: a quarter of the wait, within these bounds. */
const shortestBeat = 250
const maxBeat = 1_000

/** A wait ends together with others: to wake two processes for each of many dead devices costs more than their attempts. */
function onTheBeat(milliseconds: number): number {
  if (milliseconds < 4 * shortestBeat) return milliseconds
  const beat = Math.min(maxBeat, shortestBeat * Math.floor(milliseconds / (4 * shortestBeat)))
  const now = performance.now()
  return Math.round(Math.round((now + milliseconds) / beat) * beat - now)
}

/** It is to be in its room and is not. */
function isOut(state: DeviceState): boolean {
  return state === 'joining' || state === 'waiting'
}

/** Settings of a ladder, in milliseconds. */
interface LadderSettings {
  /** The first wait. */
  first: number
  /** Each further wait is twice as long, up to this. */
  longest: number
  /** Time joined after which the backoff starts again, in milliseconds. */
  steady: number
}

/** Waits differ by up to this share, so that devices which failed together do not come back together. */
const jitter = 0.1

/** Delay before the next attempt to join a device (contract, section 4). It grows with each failure in a row; a join that did not last counts as one. */
export class ReconnectLadder {
  readonly #settings: () => LadderSettings
  readonly #random: () => number
  #failures = 0

  /** @param random 0 to 1, evenly */
  constructor(settings: () => LadderSettings, random: () => number = Math.random) {
    this.#settings = settings
    this.#random = random
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** An attempt failed: milliseconds until the next. */
  failed(): number {
    const { first, longest } = this.#settings()
    this.#failures += 1
    return backoffMs({ first, max: longest, jitter }, this.#failures, this.#random)
  }

  /** It dropped after it was joined for so many milliseconds: milliseconds until the next attempt. */
  dropped(joinedFor: number): number {
    if (joinedFor >= this.#settings().steady) this.#failures = 0
    return this.failed()
  }

  /** Somebody changed something: the first wait comes next. */
  reset(): void {
    this.#failures = 0
  }
}
