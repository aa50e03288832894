import { canCapture } from './capture.ts'
import { type DeviceNews, DeviceSwitch } from './device-input.ts'
import { remember, remembered } from './remembered.ts'
import { Speaker } from './speaker.ts'
import type { SwitchPositions } from './switch-position.ts'

/** Microphone, camera and speaker of the user. Restores the last choices, and follows devices that are plugged in or out. */
export class OwnDevices {
  readonly microphone: DeviceSwitch
  readonly camera: DeviceSwitch
  readonly speaker = new Speaker()

  /**
   * @param changed called when microphone or camera go on or off, or are replaced
   * @param told called when a device was replaced, or is back
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

  /** Opens microphone and camera as the person left them, one prompt after the other, so that a missing camera does not affect the microphone. */
  async restore(): Promise<void> {
    await this.microphone.restore()
    await this.camera.restore()
    if (canCapture())
      await Promise.all([this.microphone, this.camera, this.speaker].map((each) => each.refreshChoices()))
  }

  /** Continues a visit of another page, which left the switches in these positions. */
  continue({ audio, video }: SwitchPositions): void {
    this.microphone.continue(audio)
    this.camera.continue(video)
  }

  /** Leaves the switches as the devices are: the person joins so. */
  settle(): void {
    this.microphone.settle()
    this.camera.settle()
  }

  /** Positions of the switches, as the person left them. */
  get left(): SwitchPositions {
    return { audio: this.microphone.left, video: this.camera.left }
  }

  /** Releases microphone and camera. */
  close(): void {
    this.microphone.close()
    this.camera.close()
  }

  #plugged(): void {
    for (const device of [this.microphone, this.camera]) void device.plugged()
    void this.speaker.refreshChoices()
  }

  /** A replacement of an unplugged device is not a choice. */
  #rememberChoices(): void {
    const { microphone, camera } = this
    if (microphone.input.track !== null) remember({ microphone: microphone.wanted || microphone.input.chosen })
    if (camera.input.track !== null) remember({ camera: camera.wanted || camera.input.chosen })
  }
}
