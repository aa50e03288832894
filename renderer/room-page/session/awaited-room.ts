import type { RoomView } from './room-view.ts'

/** Delays between attempts, in milliseconds, with jitter, so that a crowd does not arrive at once. */
const waitsMs = [2_000, 3_000, 5_000, 8_000, 12_000, 20_000] as const
const chance = 0.2
/** Maximum waiting time, in milliseconds. */
const giveUpMs = 12 * 60 * 60_000

/** A room that is not open yet: retries at growing intervals, until it opens or the user gives up. */
export class AwaitedRoom {
  readonly #view: RoomView
  readonly #attempt: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #since = 0
  #tries = 0

  /** @param attempt tries to join once */
  constructor(view: RoomView, attempt: () => void) {
    this.#view = view
    this.#attempt = attempt
  }

  /** Handles a closed room. Returns false when the waiting time is over. */
  await(): boolean {
    const now = Date.now()
    this.#since ||= now
    if (now - this.#since > giveUpMs) return false
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    const milliseconds = Math.round(wait * (1 - chance * Math.random()))
    this.#tries += 1
    Object.assign(this.#view, { phase: 'waiting', waitingFor: 'opening', retryAt: now + milliseconds })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.now(), milliseconds)
    return true
  }

  /** Retries at once. */
  now(): void {
    clearTimeout(this.#timer)
    this.#view.retryAt = 0
    this.#attempt()
  }

  /** The user waits for this room. */
  get awaited(): boolean {
    return this.#since > 0
  }

  /** The room is open, or the user gave up. */
  end(): void {
    clearTimeout(this.#timer)
    this.#since = 0
    this.#tries = 0
    this.#view.retryAt = 0
  }
}
