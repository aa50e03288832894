/**
 * Why a microphone, camera or screen cannot be had. `insecure`: the browser gives none to a page over plain HTTP; `denied`: the person or the system said no;
 * `missing`: there is none; `busy`: another program has it; `lost`: it was unplugged; `failed`: anything else.
 */
export type CaptureProblem = 'insecure' | 'denied' | 'missing' | 'busy' | 'lost' | 'failed'

export type CaptureKind = 'audio' | 'video'

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

/**
 * Opens a microphone or camera.
 * @param deviceId empty: the browser chooses
 * @throws DOMException of getUserMedia
 */
export async function capture(kind: CaptureKind, deviceId: string): Promise<MediaStreamTrack> {
  const device = deviceId === '' ? {} : { deviceId: { ideal: deviceId } }
  const stream = await navigator.mediaDevices.getUserMedia(
    kind === 'audio'
      ? { audio: { ...device, echoCancellation: true, noiseSuppression: true, autoGainControl: true } }
      : {
          video: { ...device, width: { ideal: 1_280 }, height: { ideal: 720 }, frameRate: { ideal: 25, max: 30 } },
        },
  )
  const [track] = stream.getTracks()
  if (track === undefined) throw new DOMException('no track', 'NotFoundError')
  if (kind === 'video') track.contentHint = 'motion'
  return track
}

/** What went wrong, of the error that capturing threw. */
export function problemOf(error: unknown): CaptureProblem {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied'
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing'
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'failed'
}

/** A microphone or camera to choose from. */
export interface DeviceChoice {
  id: string
  label: string
}

/** The microphones or cameras there are. Before the person allowed one, browsers name none. */
export async function listDevices(kind: CaptureKind): Promise<DeviceChoice[]> {
  if (!canCapture()) return []
  const wanted = kind === 'audio' ? 'audioinput' : 'videoinput'
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices
    .filter((device) => device.kind === wanted && device.deviceId !== '')
    .map(({ deviceId, label }, index) => ({ id: deviceId, label: label === '' ? String(index + 1) : label }))
}
