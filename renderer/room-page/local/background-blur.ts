import { type BlurredCamera, blurredCamera, canBlurFrames } from './blurred-camera.ts'

/**
 * The browser's own background blur (Media Capture Extensions, `backgroundBlur`): some systems offer it with some cameras, so nothing has to be
 * loaded or computed here.
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

/** Switches the camera's own background blur. Resolves to whether the camera follows. */
export async function blur(track: MediaStreamTrack, on: boolean): Promise<boolean> {
  const constraint: MediaTrackConstraints & { backgroundBlur: boolean } = { backgroundBlur: on }
  try {
    await track.applyConstraints({ ...track.getConstraints(), ...constraint })
    return true
  } catch {
    return false
  }
}

/** Blur of one camera: by the browser where it offers that, else by a model in the page. */
export class BackgroundBlur {
  readonly #failed: () => void
  #blurred: BlurredCamera | undefined
  #switches = 0

  /** @param failed called when frames can no longer be blurred; the picture stands still then */
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
   * @throws Error when it does not follow, or was switched again or ended meanwhile; the picture is as before
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

  /** Ends the blurred picture. */
  end(): void {
    this.#switches++
    this.#blurred?.end()
    this.#blurred = undefined
  }
}
