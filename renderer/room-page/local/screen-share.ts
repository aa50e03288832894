import { ref, shallowRef } from 'vue'

/** The shared screen, window or tab, with its sound if the browser provides it. */
export class ScreenShare {
  readonly video = shallowRef<MediaStreamTrack | null>(null)
  readonly audio = shallowRef<MediaStreamTrack | null>(null)
  /** The browser asks the user what to share. */
  readonly asking = ref(false)
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** A screen is shared. */
  get isOn(): boolean {
    return this.video.value !== null
  }

  /** Asks what to share. Resolves to false if the user cancels. @throws DOMException if unavailable */
  async start(): Promise<boolean> {
    if (this.asking.value) return false
    this.asking.value = true
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 15 } }, audio: true })
      const [video] = stream.getVideoTracks()
      if (video === undefined) return false
      // Keeps text sharp at the cost of smooth movement.
      video.contentHint = 'detail'
      video.addEventListener('ended', () => {
        if (this.video.value === video) this.stop()
      })
      this.video.value = video
      this.audio.value = stream.getAudioTracks()[0] ?? null
      this.#changed()
      return true
    } catch (error) {
      // Cancelling is not an error.
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
