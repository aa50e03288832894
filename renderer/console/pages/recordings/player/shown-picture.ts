/** Timeout for the picture of a step, and for the browser's report of it, in milliseconds. */
const settleMs = 5_000
const reportMs = 1_000

/** The picture that a video element shows, as reported by the browser. */
export class ShownPicture {
  readonly #video: HTMLVideoElement
  readonly #changed: () => void
  #time = 0
  /** Whether the picture of the latest seek is not shown yet. */
  #isDue = false

  /** @param changed called with each shown picture */
  constructor(video: HTMLVideoElement, changed: () => void) {
    this.#video = video
    this.#changed = changed
    this.#follow()
  }

  /** Time of the picture, in seconds of the element. */
  get time(): number {
    return this.#isDue || this.#time === 0 ? this.#video.currentTime : this.#time
  }

  /** Call at the start of a seek. */
  expect(): void {
    this.#isDue = 'requestVideoFrameCallback' in this.#video
  }

  /**
   * Resolves when the picture of a seek is shown, or after a timeout. @param isReached returns whether the shown
   * picture is that of the seek
   */
  async settled(isReached: () => boolean): Promise<void> {
    // Just before the end of the buffer, Chromium shows the picture but keeps `seeking` set.
    const deadline = performance.now() + settleMs
    while (this.#video.seeking && (this.#isDue || !isReached()) && performance.now() < deadline) await nextRendering()
    // On a busy machine, the report may arrive many frames later.
    const reported = performance.now() + reportMs
    while (this.#isDue && performance.now() < reported) await nextRendering()
    // Browsers without reports show the picture within two frames.
    await nextRendering()
    await nextRendering()
  }

  #follow(): void {
    if (!('requestVideoFrameCallback' in this.#video)) return
    const shown = (_now: number, { mediaTime }: { mediaTime: number }): void => {
      this.#time = mediaTime
      this.#isDue = false
      this.#changed()
      this.#video.requestVideoFrameCallback(shown)
    }
    this.#video.requestVideoFrameCallback(shown)
  }
}

/** Resolves at the next frame, or after 100 ms, because a hidden page renders no frames. */
function nextRendering(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 100)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
