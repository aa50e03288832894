/** Arguments for a picture that is encoded as H.264 while people watch. @param encoder of ffmpeg, e.g. `libx264` */
export function liveEncoding(encoder: string): string[] {
  const fast = encoder === 'libx264' ? ['-preset', 'veryfast', '-tune', 'zerolatency'] : []
  return ['-c:v', encoder, '-pix_fmt', 'yuv420p', ...fast]
}

/** Places for runs of ffmpeg that encode pictures: each takes a good part of a core. */
export class EncoderPlaces {
  #free: number

  /** @param atOnce number of places */
  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Takes a place. Returns the function that gives it back, once; undefined: all are taken. */
  take(): (() => void) | undefined {
    if (this.#free === 0) return undefined
    this.#free -= 1
    let isTaken = true
    return () => {
      if (isTaken) this.#free += 1
      isTaken = false
    }
  }
}
