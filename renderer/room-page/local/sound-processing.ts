import { remembered } from './remembered.ts'

/** The browser's processing of a microphone, as constraints name it. */
const processings = ['noiseSuppression', 'echoCancellation', 'autoGainControl'] as const
export type Processing = (typeof processings)[number]

/** The user's choice. */
export function wantedProcessing(): Record<Processing, boolean> {
  const { noiseSuppression, echoCancellation, autoGain } = remembered()
  return { noiseSuppression, echoCancellation, autoGainControl: autoGain }
}

/** Lists the processing that this browser can switch. */
export function switchableProcessing(): Processing[] {
  const devices: MediaDevices | undefined = navigator.mediaDevices
  const supported = devices?.getSupportedConstraints?.() ?? {}
  return processings.filter((each) => supported[each] === true)
}

/** Applies the user's choice to a track. @returns whether the track uses it */
export async function applyProcessing(track: MediaStreamTrack): Promise<boolean> {
  const wanted = wantedProcessing()
  const follows = (): boolean => {
    const settings = track.getSettings()
    // Settings that the browser does not report are ignored.
    return processings.every((each) => settings[each] === undefined || settings[each] === wanted[each])
  }
  if (follows()) return true
  try {
    await track.applyConstraints({ ...track.getConstraints(), ...wanted })
  } catch {
    return false
  }
  return follows()
}
