/**
 * The browser's own blur of what is behind the person (Media Capture Extensions, `backgroundBlur`): offered by some systems with some cameras, so that nothing is
 * fetched or computed here.
 */

interface BlurCapability {
  backgroundBlur?: readonly boolean[]
}

/** Whether the camera can blur the background, or not, as the page says. */
export function canBlur(track: MediaStreamTrack | null): boolean {
  if (track === null || !('getCapabilities' in track)) return false
  const { backgroundBlur = [] }: BlurCapability = track.getCapabilities()
  return backgroundBlur.includes(true) && backgroundBlur.includes(false)
}

/** Blurs the background from now on, or not. Resolves to whether the camera does so. */
export async function blur(track: MediaStreamTrack, on: boolean): Promise<boolean> {
  const constraint: MediaTrackConstraints & { backgroundBlur: boolean } = { backgroundBlur: on }
  try {
    await track.applyConstraints({ ...track.getConstraints(), ...constraint })
    return true
  } catch {
    return false
  }
}
