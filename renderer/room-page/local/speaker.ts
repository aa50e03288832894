import { shallowReactive } from 'vue'
import { type DeviceChoice, listDevices } from './capture.ts'
import { remember, remembered } from './remembered.ts'

/** Returns whether this browser lets a page choose the audio output. */
export function canChooseSpeaker(): boolean {
  return 'setSinkId' in HTMLMediaElement.prototype
}

/** The audio output of the room. */
export class Speaker {
  /** `chosen`: id of the user's choice; empty: the system's. */
  readonly output = shallowReactive({ choices: new Array<DeviceChoice>(), chosen: remembered().speaker })

  choose(id: string): void {
    this.output.chosen = id
    remember({ speaker: id })
  }

  async refreshChoices(): Promise<void> {
    this.output.choices = canChooseSpeaker() ? await listDevices('speaker') : []
  }

  /** Output for the elements: the user's choice if available, else the system's. */
  get sink(): string {
    const { choices, chosen } = this.output
    return choices.some(({ id }) => id === chosen) ? chosen : ''
  }
}
