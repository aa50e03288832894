/**
 * The browser's own background blur (Media Capture Extensions, `backgroundBlur`): some systems offer it with some cameras, so nothing has to be
 * loaded or computed here.
 */

interface BlurCapability {
  backgroundBlur?: readonly boolean[]
}

/** Tells whether the page can switch the camera's background blur. */
export function canBlur(track: MediaStreamTrack | null): boolean {
  if (track === null || !('getCapabilities' in track)) return false
  const { backgroundBlur = [] }: BlurCapability = track.getCapabilities()
  return backgroundBlur.includes(true) && backgroundBlur.includes(false)
}

/** Switches background blur. Resolves to whether the camera follows. */
export async function blur(track: MediaStreamTrack, on: boolean): Promise<boolean> {
  const constraint: MediaTrackConstraints & { backgroundBlur: boolean } = { backgroundBlur: on }
  try {
    await track.applyConstraints({ ...track.getConstraints(), ...constraint })
    return true
  } catch {
    return false
  }
}
