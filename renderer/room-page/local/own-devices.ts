import { canCapture } from './capture.ts'
import { DeviceSwitch } from './device-input.ts'
import { remember, remembered } from './remembered.ts'
import { Speaker } from './speaker.ts'

/** Microphone, camera and speaker of whoever visits. What was chosen the last time is chosen again; what is plugged in or out is seen. */
export class OwnDevices {
  readonly microphone: DeviceSwitch
  readonly camera: DeviceSwitch
  readonly speaker = new Speaker()

  /**
   * @param changed told when microphone or camera go on or off, or become another one
   * @param unplugged told by name which one is gone, and which one took its place
   */
  constructor(changed: () => void, unplugged: (lost: string, instead: string) => void) {
    const keep = (): void => {
      this.#rememberChoices()
      changed()
    }
    const { microphone, camera } = remembered()
    this.microphone = new DeviceSwitch('audio', microphone, keep, unplugged)
    this.camera = new DeviceSwitch('video', camera, keep, unplugged)
    if (canCapture()) navigator.mediaDevices.addEventListener('devicechange', () => this.#plugged())
  }

  /** Gives microphone and camera back. */
  close(): void {
    this.microphone.close()
    this.camera.close()
  }

  #plugged(): void {
    for (const device of [this.microphone, this.camera]) void device.plugged()
    void this.speaker.refreshChoices()
  }

  /** One that took the place of one that was unplugged is no choice. */
  #rememberChoices(): void {
    const { microphone, camera } = this
    if (microphone.input.track !== null) remember({ microphone: microphone.wanted || microphone.input.chosen })
    if (camera.input.track !== null) remember({ camera: camera.wanted || camera.input.chosen })
  }
}
