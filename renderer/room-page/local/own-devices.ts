import { canCapture } from './capture.ts'
import { type DeviceNews, DeviceSwitch } from './device-input.ts'
import { remember, remembered } from './remembered.ts'
import { Speaker } from './speaker.ts'
import type { SwitchPositions } from './switch-position.ts'

/**
 * Microphone, camera and speaker of the user. Restores the last choices, and adapts when devices are plugged in or out.
 */
export class OwnDevices {
  readonly microphone: DeviceSwitch
  readonly camera: DeviceSwitch
  readonly speaker = new Speaker()
  /** Number of ended visits. A device that was requested during an ended visit is not opened. */
  #ended = 0

  /**
   * @param changed called when microphone or camera go on or off, or are replaced
   * @param told called when a device was replaced, or has been returned
   */
  constructor(changed: () => void, told: (news: DeviceNews) => void) {
    const keep = (): void => {
      this.#rememberChoices()
      changed()
    }
    const { microphone, camera } = remembered()
    this.microphone = new DeviceSwitch('audio', microphone, keep, told)
    this.camera = new DeviceSwitch('video', camera, keep, told)
    if (!canCapture()) return
    navigator.mediaDevices.addEventListener('devicechange', () => this.#plugged())
    // Another program may have released a device meanwhile.
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.#plugged())
  }

  /**
   * Opens microphone and camera if the user left them on, one prompt after the other, so that a missing camera does not
   * affect the microphone.
   */
  async restore(): Promise<void> {
    const ended = this.#ended
    await this.microphone.restore()
    if (ended !== this.#ended) return
    await this.camera.restore()
    if (canCapture())
      await Promise.all([this.microphone, this.camera, this.speaker].map((each) => each.refreshChoices()))
  }

  /** Sets the switches to their positions on the page that this one continues. */
  continue({ audio, video }: SwitchPositions): void {
    this.microphone.continue(audio)
    this.camera.continue(video)
  }

  /** Switches off devices that could not be opened when the user joins. */
  settle(): void {
    this.microphone.settle()
    this.camera.settle()
  }

  /** Positions of the switches as the user left them. */
  get left(): SwitchPositions {
    return { audio: this.microphone.left, video: this.camera.left }
  }

  /** Releases microphone and camera. */
  close(): void {
    this.#ended += 1
    this.microphone.close()
    this.camera.close()
  }

  #plugged(): void {
    for (const device of [this.microphone, this.camera]) void device.plugged()
    void this.speaker.refreshChoices()
  }

  /** Stores the choices. A device that replaces an unplugged one is not a choice. */
  #rememberChoices(): void {
    const { microphone, camera } = this
    if (microphone.input.track !== null) remember({ microphone: microphone.wanted || microphone.input.chosen })
    if (camera.input.track !== null) remember({ camera: camera.wanted || camera.input.chosen })
  }
}
