import type { Opening } from './ending.ts'
import type { RoomView } from './room-view.ts'
import { steadyTimeout } from './steady-timer.ts'

/** Delays between attempts, in milliseconds. Jitter keeps many browsers from retrying at once. */
const waitsMs = [2_000, 3_000, 5_000, 8_000, 12_000, 20_000] as const
const chance = 0.2
/** Maximum delay before a scheduled opening, in milliseconds: the schedule may change. */
const lookMs = 20_000
/** Period after the opening of a scheduled room over which the attempts of its guests are spread, in milliseconds. */
const spreadMs = 1_500
/** Maximum total delay between attempts, in milliseconds. Time in which the machine sleeps does not count. */
const giveUpMs = 12 * 60 * 60_000

/** A room that is not open yet: retries at growing intervals, until it opens or the user stops waiting. */
export class AwaitedRoom {
  readonly #view: RoomView
  readonly #attempt: () => void
  #cancel: () => void = () => {}
  /** The user waits for this room. */
  awaited = false
  #waitedMs = 0
  #tries = 0

  /** @param attempt tries to join once */
  constructor(view: RoomView, attempt: () => void) {
    this.#view = view
    this.#attempt = attempt
  }

  /**
   * Schedules the next attempt at a closed room. Returns false after the maximum time; a scheduled room has no maximum.
   */
  await(opening?: Opening): boolean {
    const now = Date.now()
    this.awaited = true
    if (opening === undefined && this.#waitedMs > giveUpMs) return false
    const milliseconds = opening === undefined ? this.#nextWait() : waitFor(opening, now)
    this.#waitedMs += milliseconds
    const shown = { phase: 'waiting', waitingFor: 'opening', opening: opening ?? null } as const
    Object.assign(this.#view, shown, { retryAt: now + milliseconds })
    this.#cancel()
    this.#cancel = steadyTimeout(() => this.now(), milliseconds)
    return true
  }

  #nextWait(): number {
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    this.#tries += 1
    return Math.round(wait * (1 - chance * Math.random()))
  }

  /** Retries at once. */
  now(): void {
    this.#cancel()
    this.#view.retryAt = 0
    this.#attempt()
  }

  /** Stops waiting: the room is open, or the user gave up. */
  end(): void {
    this.#cancel()
    this.awaited = false
    this.#waitedMs = 0
    this.#tries = 0
    Object.assign(this.#view, { retryAt: 0, opening: null })
  }
}

/** Delay until a scheduled room opens, or its schedule is read again. */
function waitFor({ opensAt }: Opening, now: number): number {
  return Math.min(lookMs, Math.max(0, opensAt - now)) + Math.round(spreadMs * Math.random())
}
