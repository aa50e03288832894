/** Choices that the browser stores between visits. */
export interface Remembered {
  name: string
  microphone: string
  camera: string
  speaker: string
  /** Blurs the background if the camera can. */
  blurred: boolean
  /** Empty: the browser's language. */
  language: 'en' | 'zh' | ''
  /** State at the end of the last visit. */
  audioOn: boolean
  videoOn: boolean
}

const key = 'roomdesk.room'
const fresh: Remembered = {
  name: '',
  microphone: '',
  camera: '',
  speaker: '',
  blurred: false,
  language: '',
  audioOn: true,
  videoOn: true,
}

export function remembered(): Remembered {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    const fields = typeof value === 'object' && value !== null ? value : {}
    const text = (name: keyof Remembered): string => {
      const field: unknown = Reflect.get(fields, name)
      return typeof field === 'string' ? field.slice(0, 256) : ''
    }
    const language = text('language')
    return {
      name: text('name'),
      microphone: text('microphone'),
      camera: text('camera'),
      speaker: text('speaker'),
      blurred: Reflect.get(fields, 'blurred') === true,
      language: language === 'en' || language === 'zh' ? language : '',
      audioOn: Reflect.get(fields, 'audioOn') !== false,
      videoOn: Reflect.get(fields, 'videoOn') !== false,
    }
  } catch {
    return { ...fresh }
  }
}

export function remember(changes: Partial<Remembered>): void {
  try {
    localStorage.setItem(key, JSON.stringify({ ...remembered(), ...changes }))
  } catch {
    // Storage may be disabled; then nothing is stored.
  }
}

/** Stores the state of microphone or camera for the next visit. */
export function rememberSwitch(kind: 'audio' | 'video', on: boolean): void {
  remember(kind === 'audio' ? { audioOn: on } : { videoOn: on })
}
