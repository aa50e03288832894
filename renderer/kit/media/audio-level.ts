/**
 * Measures the level of a microphone: 0 for silence to 1 for full scale.
 * @param onLevel called every 80 ms
 * @returns a function that ends it
 */
export function measureLevel(track: MediaStreamTrack, onLevel: (level: number) => void): () => void {
  const context = new AudioContext()
  const source = context.createMediaStreamSource(new MediaStream([track]))
  const analyser = context.createAnalyser()
  analyser.fftSize = 1_024
  source.connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples)
    onLevel(loudness(samples))
  }, 80)
  // The context may be suspended until the user's first interaction with the page.
  void context.resume()
  return () => {
    clearInterval(timer)
    source.disconnect()
    void context.close()
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
