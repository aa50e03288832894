import { backoffMs } from '../../shared/backoff.ts'
import type { DeviceErrorKind, DeviceState } from '../../shared/device.ts'

/** Reason why a device is not joined. */
export interface JoinFailure {
  kind: DeviceErrorKind
  /** Message in one sentence. */
  message: string
  /** Response of the device, with the request; undefined: unknown. */
  detail?: string
  /** Whether to stop retrying until something changes, e.g. until the room is reopened. */
  hold?: boolean
}

export interface ReconnectorOptions {
  /**
   * Joins the device. If the signal aborts, the device is not left in the room. Rejects with any error.
   * @param failures number of consecutive failures
   */
  attempt(signal: AbortSignal, failures: number): Promise<void>
  failureOf(error: unknown): JoinFailure
  ladder(): LadderSettings
  /** Returns the current time, in milliseconds since the epoch. */
  clock(): number
  /** Called after a change of the state or of its properties. */
  changed(): void
  /** Random number from 0 to 1; undefined: Math.random. Tests pass their own function for exact delays. */
  random?: () => number
}

/**
 * Cause of an attempt. `due`: the attempt was scheduled, or a possible cause of the failure was removed. `changed`: the
 * address, login or room of the device was changed, or the device was resumed. `operator`: the operator requested it.
 */
export type JoinCause = 'due' | 'changed' | 'operator'

/**
 * Number of rejected logins after which retries stop until the login is changed or the operator retries, because
 * cameras lock accounts (contract, section 4).
 */
const maxRefusedLogins = 3

/**
 * State machine of one device. Every transition increments the generation; results from an earlier generation are
 * ignored. The state exists only in memory.
 */
export class Reconnector {
  readonly #options: ReconnectorOptions
  readonly #ladder: ReconnectLadder
  #state: DeviceState = 'waiting'
  #since: number
  #retries = 0
  /** Number of rejected logins since the device last joined or was changed. */
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

  /**
   * Time at which the device joined, was paused or left its room, in milliseconds since the epoch; attempts do not
   * change it.
   */
  get since(): number {
    return this.#since
  }

  /** Number of failed attempts since the device was last joined or paused. */
  get retries(): number {
    return this.#retries
  }

  /** Time of the next attempt, in milliseconds since the epoch; 0: none is scheduled. */
  get nextAttemptAt(): number {
    return this.#nextAttemptAt
  }

  /** Reason why the device is not joined; undefined: it is joined, or no attempt has failed yet. */
  get lastError(): (JoinFailure & { at: number }) | undefined {
    return this.#lastError
  }

  /**
   * Number of the current state. Every transition increments it, so that callbacks can detect that they are outdated.
   */
  get generation(): number {
    return this.#generation
  }

  /**
   * Starts an attempt. With the cause `changed`, the device starts again even during an attempt or while it is joined.
   * If the login was rejected too often, the cause `due` starts no attempt.
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
    // The operator's attempt takes precedence over automatic retries.
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

  /** Records that the device has joined. */
  joined(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#refusedLogins = 0
    this.#lastError = undefined
    this.#step('joined')
  }

  /**
   * Records that a joined device was lost, and schedules an attempt. The delay is longer if the device is lost
   * repeatedly.
   */
  lost(failure: JoinFailure): void {
    if (this.#ended || this.#state !== 'joined') return
    this.#wait(failure, this.#ladder.dropped(this.#options.clock() - this.#since))
  }

  /** Stops retrying until something changes. */
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

  /** Stops attempts briefly; `join` or `end` must follow. */
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

  /** Waits for the next attempt. @param milliseconds delay; undefined: no attempt until something changes */
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

/**
 * Minimum and maximum period to which delays are aligned, in milliseconds. The period is about a quarter of the delay.
 */
const shortestBeat = 250
const maxBeat = 1_000

/**
 * Aligns the end of a delay with the ends of other delays. For many unresponsive devices, separate wake-ups of this
 * process and of the node would cost more than the attempts.
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
  /** Time for which a device must stay joined to reset the backoff, in milliseconds. */
  steady: number
}

/** Relative variation of the delays, so that devices that failed together do not retry together. */
const jitter = 0.1

/**
 * Delay before the next attempt to join a device (contract, section 4). It grows with each consecutive failure. Losing
 * a device soon after it joined counts as a failure.
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

  /** Records a failed attempt. Returns the delay before the next attempt, in milliseconds. */
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

  /** Resets the backoff after a change: the next delay is the first delay. */
  reset(): void {
    this.#failures = 0
  }
}
