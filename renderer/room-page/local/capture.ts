/**
 * Why a microphone, camera or screen cannot be had. `insecure`: the browser gives none to a page over plain HTTP; `denied`: the person or the system said no;
 * `missing`: there is none; `busy`: another program has it; `lost`: it was unplugged; `failed`: anything else.
 */
export type CaptureProblem = 'insecure' | 'denied' | 'missing' | 'busy' | 'lost' | 'failed'

export type CaptureKind = 'audio' | 'video'

const cameraPicture = { width: { ideal: 1_280 }, height: { ideal: 720 }, frameRate: { ideal: 25, max: 30 } }

/** Whether the browser gives media to this page at all. */
export function canCapture(): boolean {
  // Typed as always there; a page over plain HTTP has none.
  const devices: MediaDevices | undefined = navigator.mediaDevices
  return devices?.getUserMedia !== undefined
}

export function canShareScreen(): boolean {
  const devices: MediaDevices | undefined = navigator.mediaDevices
  return devices?.getDisplayMedia !== undefined
}

/** Whether a camera looks at the person or away from them, as a phone's do; empty where that is not known. */
export function facingOf(track: MediaStreamTrack | null): 'user' | 'environment' | '' {
  const facing = track?.getSettings().facingMode
  return facing === 'user' || facing === 'environment' ? facing : ''
}

/**
 * Opens the camera that looks the other way.
 * @throws DOMException of getUserMedia
 */
export async function captureFacing(facing: 'user' | 'environment'): Promise<MediaStreamTrack> {
  return await openTrack({ video: { ...cameraPicture, facingMode: { exact: facing } } })
}

/**
 * Opens a microphone or camera.
 * @param deviceId empty: the browser chooses
 * @throws DOMException of getUserMedia
 */
export async function capture(kind: CaptureKind, deviceId: string): Promise<MediaStreamTrack> {
  const device = deviceId === '' ? {} : { deviceId: { ideal: deviceId } }
  return await openTrack(
    kind === 'audio'
      ? { audio: { ...device, echoCancellation: true, noiseSuppression: true, autoGainControl: true } }
      : { video: { ...cameraPicture, ...device } },
  )
}

async function openTrack(wanted: MediaStreamConstraints): Promise<MediaStreamTrack> {
  const [track] = (await navigator.mediaDevices.getUserMedia(wanted)).getTracks()
  if (track === undefined) throw new DOMException('no track', 'NotFoundError')
  if (track.kind === 'video') track.contentHint = 'motion'
  return track
}

/** What went wrong, of the error that capturing threw. */
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

/** The microphones, cameras or loudspeakers there are. Before the person allowed one, browsers name none. */
export async function listDevices(kind: CaptureKind | 'speaker'): Promise<DeviceChoice[]> {
  if (!canCapture()) return []
  const wanted = { audio: 'audioinput', video: 'videoinput', speaker: 'audiooutput' }[kind]
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices
    .filter((device) => device.kind === wanted && device.deviceId !== '')
    .map(({ deviceId, label }, index) => ({ id: deviceId, label: label === '' ? String(index + 1) : label }))
}
