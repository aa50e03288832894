import { browserStorage } from '../../kit/storage.ts'

/** Choices that the browser stores between visits. */
export interface Remembered {
  name: string
  microphone: string
  camera: string
  speaker: string
  /** Blurs the background. */
  blurred: boolean
  /** Empty: the browser's language. */
  language: string
  /** Empty: the device's. */
  theme: string
  /** Corner of the floating own picture; empty: never moved. */
  corner: string
  /** Own picture: `float` over the others, `grid` among them; empty: the page decides. */
  ownPicture: string
  /** Positions of the switches of microphone and camera; see SwitchPosition. */
  audioOn: boolean
  videoOn: boolean
  /** The browser's processing of the microphone. */
  noiseSuppression: boolean
  echoCancellation: boolean
  autoGain: boolean
  /** Events that screen readers announce. */
  announcesPeople: boolean
  announcesSpeakers: boolean
}

const key = 'roomdesk.room'
const fresh: Remembered = {
  name: '',
  microphone: '',
  camera: '',
  speaker: '',
  blurred: false,
  language: '',
  theme: '',
  corner: '',
  ownPicture: '',
  audioOn: true,
  videoOn: true,
  noiseSuppression: true,
  echoCancellation: true,
  autoGain: true,
  announcesPeople: true,
  announcesSpeakers: false,
}
/** Maximum length of a stored text. */
const longest = 256

export function remembered(): Remembered {
  const value = browserStorage.json(key)
  const stored = typeof value === 'object' && value !== null ? value : {}
  const fields = Object.entries(fresh).map(([name, otherwise]): [string, unknown] => {
    const field: unknown = Reflect.get(stored, name)
    if (typeof field !== typeof otherwise) return [name, otherwise]
    return [name, typeof field === 'string' ? field.slice(0, longest) : field]
  })
  return Object.assign({ ...fresh }, Object.fromEntries(fields))
}

export function remember(changes: Partial<Remembered>): void {
  browserStorage.set(key, JSON.stringify({ ...remembered(), ...changes }))
}
