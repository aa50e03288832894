import { shallowReactive } from 'vue'
import { type DeviceChoice, listDevices } from './capture.ts'
import { remember, remembered } from './remembered.ts'

/** Output of the room's sound as shown on the page. */
export interface SpeakerChoice {
  choices: DeviceChoice[]
  /** Id of the user's choice; empty: the system's. */
  chosen: string
}

/** Returns whether this browser lets a page choose the audio output. */
export function canChooseSpeaker(): boolean {
  return 'setSinkId' in HTMLMediaElement.prototype
}

/** The audio output of the room. */
export class Speaker {
  readonly output = shallowReactive<SpeakerChoice>({ choices: [], chosen: remembered().speaker })

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
