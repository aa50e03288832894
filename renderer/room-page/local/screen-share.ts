import { ref, shallowRef } from 'vue'

/** The screen, window or tab that is shared, with its sound where the browser gives it. */
export class ScreenShare {
  readonly video = shallowRef<MediaStreamTrack | null>(null)
  readonly audio = shallowRef<MediaStreamTrack | null>(null)
  /** The browser asks the person what to share. */
  readonly asking = ref(false)
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Asks what to share. Resolves to false when the person chose nothing. @throws DOMException when it cannot be had */
  async start(): Promise<boolean> {
    if (this.asking.value) return false
    this.asking.value = true
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 15 } }, audio: true })
      const [video] = stream.getVideoTracks()
      if (video === undefined) return false
      // Text stays sharp; movement may stutter.
      video.contentHint = 'detail'
      video.addEventListener('ended', () => {
        if (this.video.value === video) this.stop()
      })
      this.video.value = video
      this.audio.value = stream.getAudioTracks()[0] ?? null
      this.#changed()
      return true
    } catch (error) {
      // Saying no is no failure.
      if (error instanceof DOMException && error.name === 'NotAllowedError') return false
      throw error
    } finally {
      this.asking.value = false
    }
  }

  stop(): void {
    if (this.video.value === null) return
    this.video.value.stop()
    this.audio.value?.stop()
    this.video.value = null
    this.audio.value = null
    this.#changed()
  }
}
