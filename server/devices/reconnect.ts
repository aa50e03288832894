import type { DeviceErrorKind, DeviceState } from '../../shared/device.ts'

/** Why a device is not joined. */
export interface JoinFailure {
  kind: DeviceErrorKind
  /** One plain sentence. */
  message: string
  /** There is nothing to try until something changes, such as the room being reopened. */
  hold?: boolean
}

/** What a reconnector is made of. */
export interface ReconnectorOptions {
  /** Joins the device; leaves nothing behind when it is aborted. Rejects with whatever went wrong. */
  attempt(signal: AbortSignal): Promise<void>
  failureOf(error: unknown): JoinFailure
  /** Milliseconds: the first wait, doubling up to the longest. */
  ladder(): { first: number; longest: number }
  /** Milliseconds since the epoch. */
  clock(): number
  /** The state or what is told of it changed. */
  changed(): void
}

/**
 * The life of one outgoing user as one state machine. Every step out of a state raises the generation: an answer that belongs to an earlier one changes nothing.
 * State is in memory only; it follows from what happens.
 */
export class Reconnector {
  readonly #options: ReconnectorOptions
  #state: DeviceState = 'waiting'
  #since: number
  #retries = 0
  #nextAttemptAt = 0
  #lastError: (JoinFailure & { at: number }) | undefined
  #generation = 0
  #attempt: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #ended = false

  constructor(options: ReconnectorOptions) {
    this.#options = options
    this.#since = options.clock()
  }

  get state(): DeviceState {
    return this.#state
  }

  /** When it joined, was paused, or was out of its room first: an attempt does not begin it anew. */
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

  /** Tries now. With `anew`, also when an attempt is under way or it is joined: its address, login or room changed. */
  join(anew = false): void {
    if (this.#ended || (!anew && (this.#state === 'joining' || this.#state === 'joined'))) return
    const generation = this.#step('joining')
    const controller = new AbortController()
    this.#attempt = controller
    this.#options.attempt(controller.signal).then(
      () => {
        if (generation === this.#generation) this.joined()
      },
      (error: unknown) => {
        if (generation === this.#generation) this.#failed(this.#options.failureOf(error))
      },
    )
  }

  /** Its media flows. */
  joined(): void {
    if (this.#ended) return
    this.#retries = 0
    this.#lastError = undefined
    this.#step('joined')
  }

  /** It was joined and dropped: tried again after the first wait. */
  lost(failure: JoinFailure): void {
    if (this.#ended || this.#state !== 'joined') return
    this.#retries = 0
    this.#wait(failure, this.#options.ladder().first)
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

  /** It is taken out for a moment; `join` or `end` follows. */
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
    const { first, longest } = this.#options.ladder()
    this.#wait(failure, failure.hold ? undefined : Math.min(longest, first * 2 ** Math.min(this.#retries - 1, 30)))
  }

  /** Waits so many milliseconds for the next attempt, or for something to change. */
  #wait(failure: JoinFailure, milliseconds: number | undefined): void {
    const now = this.#options.clock()
    this.#lastError = { ...failure, at: now }
    this.#step('waiting', milliseconds === undefined ? 0 : now + milliseconds)
    if (milliseconds === undefined) return
    this.#timer = setTimeout(() => this.join(), milliseconds)
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

/** It is to be in its room and is not. */
function isOut(state: DeviceState): boolean {
  return state === 'joining' || state === 'waiting'
}
