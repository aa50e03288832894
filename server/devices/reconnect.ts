import { backoffMs } from '../../shared/backoff.ts'
import type { DeviceErrorKind, DeviceState } from '../../shared/device.ts'

/** Reason why a device is not joined. */
export interface JoinFailure {
  kind: DeviceErrorKind
  /** Message in one sentence. */
  message: string
  /** Response of the device, with its request; undefined if unknown. */
  detail?: string
  /** Whether retrying is useless until something changes, such as the room being reopened. */
  hold?: boolean
}

export interface ReconnectorOptions {
  /**
   * Joins the device; leaves nothing behind if the signal aborts. Rejects with any error.
   * @param failures number of consecutive failures
   */
  attempt(signal: AbortSignal, failures: number): Promise<void>
  failureOf(error: unknown): JoinFailure
  ladder(): LadderSettings
  /** Milliseconds since the epoch. */
  clock(): number
  /** Called after a change of the state or its view. */
  changed(): void
  /** Random number from 0 to 1; undefined: Math.random. Tests pass their own for exact delays. */
  random?: () => number
}

/**
 * Reason of an attempt. due: it was scheduled, or a possible cause of the failure was removed; changed: its address,
 * login or room was changed, or it was resumed; operator: "try again".
 */
export type JoinCause = 'due' | 'changed' | 'operator'

/**
 * Maximum number of attempts with a refused login. After that the device waits for a changed login or the operator,
 * because cameras lock accounts (contract, section 4).
 */
const maxRefusedLogins = 3

/**
 * State machine of one outgoing user. Every transition increments the generation, and results of an earlier generation
 * are ignored. The state exists only in memory and is derived from events.
 */
export class Reconnector {
  readonly #options: ReconnectorOptions
  readonly #ladder: ReconnectLadder
  #state: DeviceState = 'waiting'
  #since: number
  #retries = 0
  /** Number of refused logins since it last joined or its login changed. */
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

  /** Time at which it joined, was paused, or first left its room; attempts do not change it. */
  get since(): number {
    return this.#since
  }

  /** Number of failed attempts since it was last joined. */
  get retries(): number {
    return this.#retries
  }

  /** Time of the next attempt, in milliseconds since the epoch; 0 if none is scheduled. */
  get nextAttemptAt(): number {
    return this.#nextAttemptAt
  }

  /** Reason why it is not joined; undefined if it is joined, or nothing has failed yet. */
  get lastError(): (JoinFailure & { at: number }) | undefined {
    return this.#lastError
  }

  /**
   * Number of the current state: it increases with every transition, so callbacks can detect that they are outdated.
   */
  get generation(): number {
    return this.#generation
  }

  /**
   * Starts an attempt. A changed device starts again, even during an attempt or while it is joined. A login that was
   * refused too often is tried only for the operator.
   */
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
    // An attempt of the operator takes precedence over automatic retries.
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

  /** Records that its media flows. */
  joined(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#refusedLogins = 0
    this.#lastError = undefined
    this.#step('joined')
  }

  /**
   * Records that a joined device was lost. It is retried after the first delay, or after a longer one if it is lost
   * repeatedly.
   */
  lost(failure: JoinFailure): void {
    if (this.#ended || this.#state !== 'joined') return
    this.#wait(failure, this.#ladder.dropped(this.#options.clock() - this.#since))
  }

  /** Waits without retrying until something changes. */
  hold(failure: JoinFailure): void {
    if (this.#ended) return
    this.#wait(failure, undefined)
  }

  pause(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#lastError = undefined
    this.#step('paused')
  }

  /** Interrupts the device briefly; `join` or `end` follows. */
  suspend(): void {
    if (this.#ended) return
    this.#step('waiting')
  }

  /** Ends the state machine, because the device was deleted. */
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

  /** Waits for the next attempt, or, without a delay in milliseconds, until something changes. */
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

/** Minimum and maximum period to which delays are aligned, in milliseconds; the period is a quarter of the delay. */
const shortestBeat = 250
const maxBeat = 1_000

/**
 * Aligns the end of a delay with that of others. Waking two processes separately for many dead devices would cost more
 * than their attempts.
 */
function onTheBeat(milliseconds: number): number {
  if (milliseconds < 4 * shortestBeat) return milliseconds
  const beat = Math.min(maxBeat, shortestBeat * Math.floor(milliseconds / (4 * shortestBeat)))
  const now = performance.now()
  return Math.round(Math.round((now + milliseconds) / beat) * beat - now)
}

/** Whether the device should be joined but is not. */
function isOut(state: DeviceState): boolean {
  return state === 'joining' || state === 'waiting'
}

/** Settings of the backoff, in milliseconds. */
interface LadderSettings {
  first: number
  /** Maximum delay: each delay is twice as long as the previous one, up to this value. */
  maxMs: number
  /** Time joined after which the backoff starts again, in milliseconds. */
  steady: number
}

/** Relative variation of the delays, so that devices which failed together do not retry together. */
const jitter = 0.1

/**
 * Delay before the next attempt to join a device (contract, section 4). It grows with each consecutive failure. A join
 * that was lost early counts as a failure.
 */
export class ReconnectLadder {
  readonly #settings: () => LadderSettings
  readonly #random: () => number
  #failures = 0

  /** @param random returns a number from 0 to 1 */
  constructor(settings: () => LadderSettings, random: () => number = Math.random) {
    this.#settings = settings
    this.#random = random
  }

  /** Number of consecutive failures. */
  get failures(): number {
    return this.#failures
  }

  /** Records a failed attempt. Returns the delay before the next one, in milliseconds. */
  failed(): number {
    const { first, maxMs } = this.#settings()
    this.#failures += 1
    return backoffMs({ first, max: maxMs, jitter }, this.#failures, this.#random)
  }

  /**
   * Records the loss of a device. Returns the delay before the next attempt, in milliseconds.
   * @param joinedFor time it was joined, in milliseconds
   */
  dropped(joinedFor: number): number {
    if (joinedFor >= this.#settings().steady) this.#failures = 0
    return this.failed()
  }

  /** Resets the backoff after a change: the next delay is the first one. */
  reset(): void {
    this.#failures = 0
  }
}
