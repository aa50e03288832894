import type { RoomView } from './room-view.ts'

/** Between two attempts, in milliseconds; some of it by chance, so that a crowd does not come in one moment. */
const waitsMs = [2_000, 3_000, 5_000, 8_000, 12_000, 20_000] as const
const chance = 0.2
/** Nobody waits at a page for longer, in milliseconds. */
const giveUpMs = 12 * 60 * 60_000

/** A room that is not open yet: it is tried again, at longer and longer intervals, until it is, or the person gives up. */
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

  /** The room was not open. Returns false when nobody is to wait any longer. */
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

  /** Tries at once. */
  now(): void {
    clearTimeout(this.#timer)
    this.#view.retryAt = 0
    this.#attempt()
  }

  /** Somebody waits for this room. */
  get awaited(): boolean {
    return this.#since > 0
  }

  /** It is open, or nobody waits any more. */
  end(): void {
    clearTimeout(this.#timer)
    this.#since = 0
    this.#tries = 0
    this.#view.retryAt = 0
  }
}
