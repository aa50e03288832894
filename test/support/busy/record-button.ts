import { setTimeout as sleep } from 'node:timers/promises'
import type { ControllersSite } from '../sites/controllers-site.ts'
import { changingCall } from './changing-call.ts'

/** Maximum pause between two presses, in milliseconds. */
const pauseMs = 1_500

/** An operator who starts and stops the recording of one camera by its button. */
export class RecordButton {
  readonly userId: string
  readonly #roomId: string
  readonly #site: ControllersSite
  readonly #random: () => number
  /** What may be stored: both after a call with unknown outcome. */
  #possible: ReadonlySet<boolean> = new Set([false])
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

  /** Compares the stored recording with the answers. @throws Error if it contradicts them */
  compare(isStored: boolean): void {
    if (this.#possible.has(isStored)) return
    throw new Error(`The button of ${this.userId} is ${isStored ? 'on' : 'off'}, and was answered otherwise.`)
  }

  /** Stops the recording. @throws Error unless it is acknowledged */
  async release(): Promise<void> {
    await this.#press(false)
    if (this.#possible.has(true)) throw new Error(`The recording of ${this.userId} was not stopped.`)
  }

  async #run(): Promise<void> {
    while (!this.#isPaused) {
      await this.#press(this.#random() < 0.6)
      await sleep(this.#random() * pauseMs)
    }
  }

  async #press(on: boolean): Promise<void> {
    const target = { room_id: this.#roomId, user_id: this.userId }
    try {
      const answer = await changingCall(this.#site, on ? 'recordings.start' : 'recordings.stop', target)
      if (answer !== undefined) this.#possible = new Set([on])
    } catch {
      this.#possible = new Set([...this.#possible, on])
    }
  }
}
