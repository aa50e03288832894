import { shallowReactive } from 'vue'
import { type DeviceChoice, listDevices } from './capture.ts'
import { remember, remembered } from './remembered.ts'

/** Output of the room's sound, as the page shows it. */
export interface SpeakerChoice {
  choices: DeviceChoice[]
  /** Id of the one that is wanted; empty: the system's. */
  chosen: string
}

/** Whether this browser lets a page choose where its sound comes out. */
export function canChooseSpeaker(): boolean {
  return 'setSinkId' in HTMLMediaElement.prototype
}

/** The loudspeaker or headset that the sound of the room comes out of. */
export class Speaker {
  readonly output = shallowReactive<SpeakerChoice>({ choices: [], chosen: remembered().speaker })

  choose(id: string): void {
    this.output.chosen = id
    remember({ speaker: id })
  }

  async refreshChoices(): Promise<void> {
    this.output.choices = canChooseSpeaker() ? await listDevices('speaker') : []
  }

  /** Output for the elements: the wanted one while it is there, else the system's. */
  get sink(): string {
    const { choices, chosen } = this.output
    return choices.some(({ id }) => id === chosen) ? chosen : ''
  }
}
