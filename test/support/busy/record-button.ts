import { setTimeout as sleep } from 'node:timers/promises'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { ControllersSite } from '../sites/controllers-site.ts'
import { changingCall } from './changing-call.ts'
import { eventDifferences } from './logged-events.ts'

/** Maximum pause between two presses, in milliseconds. */
const pauseMs = 1_500

/** An operator who starts and stops the recording of one camera by its button. */
export class RecordButton {
  readonly userId: string
  readonly #roomId: string
  readonly #site: ControllersSite
  readonly #random: () => number
  /** Numbers of presses that may have changed something, each with an event; odd: it is on. Several after a call with unknown outcome. */
  #possible: ReadonlySet<number> = new Set([0])
  #isPaused = true
  #running: Promise<void> = Promise.resolve()

  constructor(site: ControllersSite, { roomId, userId }: { roomId: string; userId: string }, random: () => number) {
    this.#site = site
    this.#roomId = roomId
    this.userId = userId
    this.#random = random
  }

  resume(): void {
    this.#isPaused = false
    this.#running = this.#run()
  }

  /** Stops after the call in progress. */
  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#running
  }

  /** Compares the stored recording with the answers, and learns the outcome of unknown calls from it. @throws Error if it contradicts them */
  compare(isStored: boolean): void {
    this.#possible = new Set([...this.#possible].filter((count) => isOn(count) === isStored))
    if (this.#possible.size > 0) return
    throw new Error(`The button of ${this.userId} is ${isStored ? 'on' : 'off'}, and was answered otherwise.`)
  }

  /** Differences between the answers and the event log: each press that changed something is logged once, in order. @param events of recordings, oldest first */
  eventDifferences(events: readonly EventEntry[]): string[] {
    const logged = events.filter(
      ({ kind, subject }) =>
        subject.id === this.userId && (kind === 'recording.started' || kind === 'recording.stopped'),
    )
    const count = this.#possible.has(logged.length) ? logged.length : Math.max(...this.#possible)
    const due = Array.from({ length: count }, (_, index) =>
      isOn(index + 1) ? ('recording.started' as const) : ('recording.stopped' as const),
    )
    return eventDifferences(`button of ${this.userId}`, due, logged)
  }

  /** Stops the recording. @throws Error unless it is acknowledged */
  async release(): Promise<void> {
    await this.#press(false)
    if ([...this.#possible].some(isOn)) throw new Error(`The recording of ${this.userId} was not stopped.`)
  }

  async #run(): Promise<void> {
    while (!this.#isPaused) {
      await this.#press(this.#random() < 0.6)
      await sleep(this.#random() * pauseMs)
    }
  }

  async #press(on: boolean): Promise<void> {
    const target = { room_id: this.#roomId, user_id: this.userId }
    const before = this.#possible
    const after = Array.from(before, (count) => (isOn(count) === on ? count : count + 1))
    try {
      const answer = await changingCall(this.#site, on ? 'recordings.start' : 'recordings.stop', target)
      if (answer !== undefined) this.#possible = new Set(after)
    } catch {
      this.#possible = new Set([...before, ...after])
    }
  }
}

function isOn(count: number): boolean {
  return count % 2 === 1
}
