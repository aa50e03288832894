import { wantedProcessing } from './sound-processing.ts'

/**
 * Reason why a microphone, camera or screen is unavailable. `insecure`: the browser refuses pages over plain HTTP;
 * `denied`: the user or the system refused; `missing`: no device; `busy`: in use by another program; `lost`: unplugged;
 * `unblurred`: the user chose a blurred background, which failed; `failed`: anything else.
 */
export type CaptureProblem = 'insecure' | 'denied' | 'missing' | 'busy' | 'lost' | 'unblurred' | 'failed'

export type CaptureKind = 'audio' | 'video'

const cameraPicture = { width: { ideal: 1_280 }, height: { ideal: 720 }, frameRate: { ideal: 25, max: 30 } }

/** Returns whether the browser offers capture to this page at all. */
export function canCapture(): boolean {
  // Typed as always present, but missing on a page over plain HTTP.
  const devices: MediaDevices | undefined = navigator.mediaDevices
  return devices?.getUserMedia !== undefined
}

export function canShareScreen(): boolean {
  const devices: MediaDevices | undefined = navigator.mediaDevices
  return devices?.getDisplayMedia !== undefined
}

/** Returns the direction of a phone's camera, towards the user or away; empty: unknown. */
export function facingOf(track: MediaStreamTrack | null): 'user' | 'environment' | '' {
  const facing = track?.getSettings().facingMode
  return facing === 'user' || facing === 'environment' ? facing : ''
}

/**
 * Opens the camera with the other direction.
 * @throws DOMException of getUserMedia
 */
export async function captureFacing(facing: 'user' | 'environment'): Promise<MediaStreamTrack> {
  return await openTrack({ video: { ...cameraPicture, facingMode: { exact: facing } } })
}

/**
 * Opens a microphone or camera; if it no longer exists, another one.
 * @param deviceId empty: the browser's choice
 * @throws DOMException of getUserMedia
 */
export async function capture(kind: CaptureKind, deviceId: string): Promise<MediaStreamTrack> {
  if (deviceId === '') return await openTrack(wanted(kind, {}))
  try {
    // Without `exact`, browsers treat a microphone's id only as a hint.
    return await openTrack(wanted(kind, { deviceId: { exact: deviceId } }))
  } catch (error) {
    if (problemOf(error) !== 'missing') throw error
    return await openTrack(wanted(kind, {}))
  }
}

function wanted(kind: CaptureKind, device: MediaTrackConstraints): MediaStreamConstraints {
  return kind === 'audio' ? { audio: { ...device, ...wantedProcessing() } } : { video: { ...cameraPicture, ...device } }
}

async function openTrack(constraints: MediaStreamConstraints): Promise<MediaStreamTrack> {
  const [track] = (await navigator.mediaDevices.getUserMedia(constraints)).getTracks()
  if (track === undefined) throw new DOMException('no track', 'NotFoundError')
  if (track.kind === 'video') track.contentHint = 'motion'
  return track
}

/** Classifies the error of a capture. */
export function problemOf(error: unknown): CaptureProblem {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied'
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing'
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'failed'
}

/** A microphone, camera or loudspeaker to choose from. */
export interface DeviceChoice {
  id: string
  label: string
}

/** Lists the microphones, cameras or loudspeakers. Browsers hide their names until the user grants a permission. */
export async function listDevices(kind: CaptureKind | 'speaker'): Promise<DeviceChoice[]> {
  if (!canCapture()) return []
  const listed = { audio: 'audioinput', video: 'videoinput', speaker: 'audiooutput' }[kind]
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices
    .filter((device) => device.kind === listed && device.deviceId !== '')
    .map(({ deviceId, label }, index) => ({ id: deviceId, label: label === '' ? String(index + 1) : label }))
}
