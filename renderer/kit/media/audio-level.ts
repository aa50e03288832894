/** Measures the level of a microphone: 0 for silence to 1 for full scale, several times a second. */
export class AudioLevel {
  readonly #context: AudioContext
  readonly #source: MediaStreamAudioSourceNode
  readonly #timer: ReturnType<typeof setInterval>

  /** @param onLevel called every 80 ms */
  constructor(track: MediaStreamTrack, onLevel: (level: number) => void) {
    this.#context = new AudioContext()
    this.#source = this.#context.createMediaStreamSource(new MediaStream([track]))
    const analyser = this.#context.createAnalyser()
    analyser.fftSize = 1_024
    this.#source.connect(analyser)
    const samples = new Float32Array(analyser.fftSize)
    this.#timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples)
      onLevel(loudness(samples))
    }, 80)
    // The context may be suspended until the user's first interaction with the page.
    void this.#context.resume()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#source.disconnect()
    void this.#context.close()
  }
}

/** Maps -60 dB and less to 0 and full scale to 1, linear in dB. */
export function loudness(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const power = sum / Math.max(1, samples.length)
  if (power === 0) return 0
  return Math.min(1, Math.max(0, 1 + (10 * Math.log10(power)) / 60))
}
