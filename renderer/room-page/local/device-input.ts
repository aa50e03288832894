import { shallowReactive } from 'vue'
import {
  canCapture,
  capture,
  type CaptureKind,
  type CaptureProblem,
  type DeviceChoice,
  listDevices,
  problemOf,
} from './capture.ts'

/** A microphone or a camera, as the page shows it. */
export interface DeviceInput {
  readonly kind: CaptureKind
  /** On, as the person wants it: a muted microphone keeps its track. */
  on: boolean
  opening: boolean
  track: MediaStreamTrack | null
  problem: CaptureProblem | null
  choices: DeviceChoice[]
  /** Id of the chosen one; empty: the browser's choice. */
  chosen: string
}

/** Opens, closes and exchanges a microphone or a camera. */
export class DeviceSwitch {
  readonly input: DeviceInput
  readonly #changed: () => void
  #generation = 0

  /** @param changed told after each change of the track or of `on` */
  constructor(kind: CaptureKind, chosen: string, changed: () => void) {
    this.#changed = changed
    this.input = shallowReactive<DeviceInput>({
      kind,
      on: false,
      opening: false,
      track: null,
      problem: canCapture() ? null : 'insecure',
      choices: [],
      chosen,
    })
  }

  /** Turns it on, asking the person where the browser has not yet. Resolves when it is on or failed. */
  async turnOn(): Promise<void> {
    const { input } = this
    if (!canCapture()) {
      input.problem = 'insecure'
      return
    }
    if (input.track !== null) {
      input.track.enabled = true
      input.on = true
      return this.#changed()
    }
    await this.#open(input.chosen)
  }

  /** A camera is closed, so that its light goes out; a microphone is silenced, so that it is back at once. */
  turnOff(): void {
    this.#generation += 1
    const { input } = this
    input.on = false
    input.opening = false
    if (input.kind === 'video') this.#drop()
    else if (input.track !== null) input.track.enabled = false
    this.#changed()
  }

  /** Takes another one, at once when it is on. */
  async choose(id: string): Promise<void> {
    this.input.chosen = id
    if (this.input.track === null && !this.input.opening) return
    const on = this.input.on || this.input.opening
    this.#drop()
    await this.#open(id)
    if (!on) this.turnOff()
  }

  async refreshChoices(): Promise<void> {
    this.input.choices = await listDevices(this.input.kind)
  }

  /** Gives it back. */
  close(): void {
    this.#generation += 1
    this.input.on = false
    this.#drop()
  }

  async #open(id: string): Promise<void> {
    const generation = ++this.#generation
    const { input } = this
    input.opening = true
    input.problem = null
    try {
      const track = await capture(input.kind, id)
      if (generation !== this.#generation) return track.stop()
      track.addEventListener('ended', () => this.#lost(track))
      input.track = track
      input.on = true
      input.chosen = track.getSettings().deviceId ?? id
    } catch (error) {
      if (generation !== this.#generation) return
      input.problem = problemOf(error)
      input.on = false
    }
    input.opening = false
    this.#changed()
    await this.refreshChoices()
  }

  #drop(): void {
    const { track } = this.input
    this.input.track = null
    track?.stop()
  }

  #lost(track: MediaStreamTrack): void {
    if (this.input.track !== track) return
    this.#drop()
    this.input.on = false
    this.input.problem = 'lost'
    this.#changed()
  }
}
