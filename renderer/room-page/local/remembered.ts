import { browserStorage } from '../../kit/storage.ts'

const key = 'roomdesk.room'
/** Choices that the browser stores between visits, as they are at the first one. */
const fresh = {
  name: '',
  microphone: '',
  camera: '',
  speaker: '',
  /** Blurs the background. */
  blurred: false,
  /** Empty: the browser's language. */
  language: '',
  /** Empty: the device's. */
  theme: '',
  /** Corner of the floating own picture; empty: never moved. */
  corner: '',
  /** Own picture: `float` over the others, `grid` among them; empty: the page decides. */
  ownPicture: '',
  /** Positions of the switches of microphone and camera; see SwitchPosition. */
  audioOn: true,
  videoOn: true,
  /** The browser's processing of the microphone. */
  noiseSuppression: true,
  echoCancellation: true,
  autoGain: true,
  /** Events that screen readers announce. */
  announcesPeople: true,
  announcesSpeakers: false,
}
type Remembered = typeof fresh

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
