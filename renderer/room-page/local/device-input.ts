import { shallowReactive } from 'vue'
import { BackgroundBlur } from './background-blur.ts'
import {
  canCapture,
  capture,
  captureFacing,
  type CaptureKind,
  type CaptureProblem,
  type DeviceChoice,
  facingOf,
  listDevices,
  problemOf,
} from './capture.ts'
import { remember, remembered } from './remembered.ts'
import { applyProcessing } from './sound-processing.ts'
import { SwitchPosition } from './switch-position.ts'

/** A microphone or a camera as shown on the page. */
export class DeviceInput {
  readonly kind: CaptureKind
  /** Open and not muted: a muted microphone keeps its track. */
  on = false
  opening = false
  /** Track to show and to send. */
  track: MediaStreamTrack | null = null
  /** Track of the device itself; differs from `track` if the page blurs the background. */
  source: MediaStreamTrack | null = null
  problem: CaptureProblem | null = canCapture() ? null : 'insecure'
  /** The system has taken the device while it was on; it is reopened as soon as the system returns it. */
  taken = false
  choices: DeviceChoice[] = []
  /** Id of the chosen device; empty: the browser's choice. */
  chosen: string

  constructor(kind: CaptureKind, chosen: string) {
    this.kind = kind
    this.chosen = chosen
  }
}

/** Change of a device without an action of the user. */
export type DeviceNews =
  | { what: 'replaced'; lost: string; instead: string }
  /** The system has returned the device, and it is on again. */
  | { what: 'back'; kind: CaptureKind; name: string }

/** The background of a camera cannot be blurred although the user chose that. */
class Unblurred extends Error {
  override readonly name = 'Unblurred'
}

/** Opens, closes and replaces a microphone or a camera according to the position of its switch. */
export class DeviceSwitch {
  readonly input: DeviceInput
  readonly #position: SwitchPosition
  readonly #changed: () => void
  readonly #told: (news: DeviceNews) => void
  readonly #blur = new BackgroundBlur(() => this.#unblurred())
  #generation = 0
  /** Id of the user's choice, used again whenever the device is plugged in. */
  #wanted: string

  /**
   * @param changed called after each change of the track or of `on`
   * @param told called when the device was replaced, or has been returned
   */
  constructor(kind: CaptureKind, chosen: string, changed: () => void, told: (news: DeviceNews) => void = () => {}) {
    this.#changed = changed
    this.#told = told
    this.#wanted = chosen
    this.#position = new SwitchPosition(kind)
    this.input = shallowReactive(new DeviceInput(kind, chosen))
  }

  /**
   * Turns the device on by a click of the user, with a permission prompt if necessary. Resolves when it is on or
   * failed.
   */
  async turnOn(): Promise<void> {
    if (canCapture()) this.#position.press(true)
    else this.input.problem = 'insecure'
    await this.restore()
  }

  /** Turns the device on if the user left its switch on. Resolves when it is on or failed. */
  async restore(): Promise<void> {
    const { input } = this
    if (!canCapture() || !this.#position.on || input.opening) return
    if (input.track === null) return await this.#open(() => capture(input.kind, input.chosen))
    input.track.enabled = true
    input.on = true
    this.#changed()
  }

  /**
   * Turns the device off, by a click of the user or by a host. Closes a camera, so that its light goes off; mutes a
   * microphone, so that it can be turned on at once.
   */
  turnOff(): void {
    this.#position.press(false)
    this.#silence()
  }

  /** Position of the switch as the user left it. The device itself may be unavailable. */
  get left(): boolean {
    return canCapture() && this.#position.on
  }

  /** Sets the switch to the position on the page that this one continues. */
  continue(on: boolean): void {
    this.#position.settle(on)
  }

  /** The user joins: switches off a device that could not be opened. One that is not open yet follows its switch. */
  settle(): void {
    this.#position.settle(this.#position.on && this.input.problem === null)
  }

  #silence(): void {
    const { input } = this
    this.#cancel()
    if (input.kind === 'video') this.#drop()
    else if (input.track !== null) input.track.enabled = false
    this.#changed()
  }

  /** Uses another device, immediately if the switch is on. */
  async choose(id: string): Promise<void> {
    this.#wanted = id
    await this.#exchange(id)
  }

  /** Id of the user's choice; empty: the browser's choice. */
  get wanted(): string {
    return this.#wanted
  }

  /**
   * Applies the chosen processing to the microphone: to its track if the browser can, else by a new track.
   * @returns whether the microphone applies it
   */
  async process(): Promise<boolean> {
    const { input } = this
    const before = input.track
    if (before === null || (await applyProcessing(before))) return true
    // All tracks of an open microphone share its processing: it has to be closed first.
    this.#drop()
    await this.#open(() => capture('audio', input.chosen))
    const { track } = input
    return track !== null && (await applyProcessing(track))
  }

  /**
   * Switches the blur of a camera's background, now and for later tracks.
   * @returns whether the camera applies it; if not, nothing has changed
   */
  async blur(on: boolean): Promise<boolean> {
    const { input } = this
    const { source } = input
    try {
      if (source !== null) input.track = await this.#blur.switch(source, on)
    } catch {
      return false
    }
    remember({ blurred: on })
    if (!on && input.problem === 'unblurred') input.problem = null
    this.#changed()
    return true
  }

  /** Switches to the camera with the other direction, on a phone. A camera that is off stays off. */
  async flip(): Promise<void> {
    if (this.input.track === null) return
    const facing = facingOf(this.input.source) === 'environment' ? 'user' : 'environment'
    const before = this.input.chosen
    // Many phones open only one camera at a time.
    this.#drop()
    await this.#open(() => captureFacing(facing).catch(() => capture('video', before)))
    this.#wanted = this.input.chosen
  }

  /** Updates the list after devices were plugged in or out, and uses the user's choice again if it is available. */
  async plugged(): Promise<void> {
    const { input } = this
    const before = new Set(input.choices.map(({ id }) => id))
    await this.refreshChoices()
    const isBack = !before.has(this.#wanted) && input.choices.some(({ id }) => id === this.#wanted)
    if (isBack && input.on && input.chosen !== this.#wanted) await this.#exchange(this.#wanted)
    else await this.#takeBack()
  }

  /** Reopens a device that the system has taken, if the system returns it. */
  async #takeBack(): Promise<void> {
    const { input } = this
    const isWanted = input.taken && this.#position.on && input.track === null && !input.opening
    if (!isWanted || input.choices.length === 0) return
    const { problem } = input
    await this.#open(() => capture(input.kind, this.#wanted))
    const source = this.#current()
    if (source !== null) this.#told({ what: 'back', kind: input.kind, name: source.label })
    else this.#stillTaken(problem)
  }

  async #exchange(id: string): Promise<void> {
    this.input.chosen = id
    if (this.input.track === null && !this.input.opening) return
    this.#drop()
    await this.#open(() => capture(this.input.kind, id))
  }

  async refreshChoices(): Promise<void> {
    this.input.choices = await listDevices(this.input.kind)
  }

  /** Releases the device. */
  close(): void {
    this.#cancel()
    this.#drop()
  }

  #cancel(): void {
    this.#generation += 1
    Object.assign(this.input, { on: false, opening: false, taken: false })
  }

  async #open(take: () => Promise<MediaStreamTrack>): Promise<void> {
    const generation = ++this.#generation
    const { input } = this
    input.opening = true
    input.problem = null
    try {
      const source = await take()
      if (generation !== this.#generation) return source.stop()
      const track = await this.#prepared(source)
      if (generation !== this.#generation) {
        this.#blur.end()
        return source.stop()
      }
      this.#take(source, track)
      input.chosen = source.getSettings().deviceId ?? input.chosen
    } catch (error) {
      if (generation !== this.#generation) return
      input.problem = error instanceof Unblurred ? 'unblurred' : problemOf(error)
      input.on = false
    }
    input.opening = false
    this.#changed()
    await this.refreshChoices()
  }

  /** Returns the track to show. If blur is chosen, the unblurred picture is never shown. @throws Unblurred */
  async #prepared(source: MediaStreamTrack): Promise<MediaStreamTrack> {
    if (this.input.kind !== 'video' || !remembered().blurred || !BackgroundBlur.isOffered(source)) return source
    try {
      return await this.#blur.switch(source, true)
    } catch (cause) {
      source.stop()
      throw new Unblurred('the background cannot be blurred', { cause })
    }
  }

  #unblurred(): void {
    this.#silence()
    this.input.problem = 'unblurred'
  }

  #take(source: MediaStreamTrack, track: MediaStreamTrack): void {
    source.addEventListener('ended', () => void this.#lost(source))
    // The device opens muted if its switch is off: no sound is sent meanwhile.
    track.enabled = this.#position.on
    this.input.on = this.#position.on
    this.input.taken = false
    this.input.source = source
    this.input.track = track
  }

  #drop(): void {
    const { source } = this.input
    this.input.source = null
    this.input.track = null
    this.#blur.end()
    source?.stop()
  }

  /** Replaces an unplugged device by another one in the same state, if there is one. */
  async #lost(source: MediaStreamTrack): Promise<void> {
    const { input } = this
    if (input.source !== source) return
    const { label } = source
    this.#drop()
    input.taken = input.on
    input.on = false
    input.problem = 'lost'
    this.#changed()
    await this.refreshChoices()
    if (!input.taken) return
    // Without the permission no device has a name, and another request would open a prompt.
    if (await this.#isForbidden()) input.problem = 'denied'
    if (input.problem === 'denied' || input.choices.length === 0) return
    await this.#open(() => capture(input.kind, ''))
    const instead = this.#current()
    if (instead !== null) this.#told({ what: 'replaced', lost: label, instead: instead.label })
    else this.#stillTaken('lost')
  }

  /** Restores the first problem after no other device was found: it is more precise than `missing`. */
  #stillTaken(problem: CaptureProblem | null): void {
    if (this.input.problem === 'missing') this.input.problem = problem
  }

  /** Resolves to whether the browser has withdrawn its permission. Watches for its return. */
  async #isForbidden(): Promise<boolean> {
    try {
      const name = this.input.kind === 'audio' ? 'microphone' : 'camera'
      const status = await navigator.permissions.query({ name })
      if (status.state === 'granted') return false
      status.onchange = () => void this.plugged()
      return true
    } catch {
      // Some browsers have no such permission: then an attempt to open the device decides.
      return false
    }
  }

  #current(): MediaStreamTrack | null {
    return this.input.source
  }
}
