import { type BlurredCamera, blurredCamera, canBlurFrames } from './blurred-camera.ts'

/**
 * The browser's own background blur (Media Capture Extensions, `backgroundBlur`). Some systems offer it with some
 * cameras; then the page needs no model.
 */
interface BlurCapability {
  backgroundBlur?: readonly boolean[]
}

/** Returns whether the page can switch the camera's own background blur. */
export function canBlur(track: MediaStreamTrack | null): boolean {
  if (track === null || !('getCapabilities' in track)) return false
  const { backgroundBlur = [] }: BlurCapability = track.getCapabilities()
  return backgroundBlur.includes(true) && backgroundBlur.includes(false)
}

/** Switches the camera's own background blur. Resolves to whether the camera applies it. */
export async function blur(track: MediaStreamTrack, on: boolean): Promise<boolean> {
  const constraint: MediaTrackConstraints & { backgroundBlur: boolean } = { backgroundBlur: on }
  try {
    await track.applyConstraints({ ...track.getConstraints(), ...constraint })
    return true
  } catch {
    return false
  }
}

/** Blur of one camera: by the browser if it offers that, else by a model in the page. */
export class BackgroundBlur {
  readonly #failed: () => void
  #blurred: BlurredCamera | undefined
  #switches = 0

  /** @param failed called when frames can no longer be blurred; the picture is then frozen */
  constructor(failed: () => void) {
    this.#failed = failed
  }

  /** Returns whether a background can be blurred. @param camera null: of any camera */
  static isOffered(camera: MediaStreamTrack | null): boolean {
    return canBlur(camera) || canBlurFrames()
  }

  /**
   * Switches the blur of a camera.
   * @returns the track to show and to send
   * @throws Error if the camera does not apply it, or it was switched again or ended meanwhile; the picture is
   * unchanged
   */
  async switch(camera: MediaStreamTrack, on: boolean): Promise<MediaStreamTrack> {
    if (canBlur(camera)) {
      if (!(await blur(camera, on))) throw new Error('the camera does not follow')
      return camera
    }
    const turn = ++this.#switches
    const next = on ? await blurredCamera(camera, this.#failed) : undefined
    if (turn !== this.#switches) {
      next?.end()
      throw new Error('the blur was switched again')
    }
    this.end()
    this.#blurred = next
    return next?.track ?? camera
  }

  /** Stops the blurred picture. */
  end(): void {
    this.#switches++
    this.#blurred?.end()
    this.#blurred = undefined
  }
}
