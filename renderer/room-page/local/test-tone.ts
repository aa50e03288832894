import { canChooseSpeaker } from './speaker.ts'

/** Notes of the test: frequencies in Hz, and their interval and length in seconds. */
const notes = [523.25, 659.25, 783.99] as const
const interval = 0.32
const length = 0.5
const volume = 0.25

/**
 * Plays three notes on a speaker. Resolves at their end.
 * @param sink id of the speaker; empty: the system's
 * @param onTrack called with the sound as it starts, e.g. to show its level
 * @throws DOMException if the speaker is unavailable
 */
export async function playTestTone(sink: string, onTrack: (track: MediaStreamTrack | null) => void): Promise<void> {
  const context = new AudioContext()
  const output = context.createMediaStreamDestination()
  // An audio element, as for the voices of others: the test uses the same path to the speaker.
  const element = new Audio()
  try {
    if (canChooseSpeaker() && sink !== '') await element.setSinkId(sink)
    await context.resume()
    element.srcObject = output.stream
    onTrack(output.stream.getAudioTracks()[0] ?? null)
    await element.play()
    await Promise.all(notes.map((frequency, index) => note(context, output, frequency, index * interval)))
  } finally {
    onTrack(null)
    element.srcObject = null
    await context.close()
  }
}

/** Resolves when the note has faded. */
function note(context: AudioContext, output: AudioNode, frequency: number, delay: number): Promise<void> {
  const start = context.currentTime + delay
  const oscillator = context.createOscillator()
  const envelope = context.createGain()
  oscillator.frequency.value = frequency
  envelope.gain.setValueAtTime(0, start)
  envelope.gain.linearRampToValueAtTime(volume, start + 0.02)
  envelope.gain.exponentialRampToValueAtTime(0.001, start + length)
  oscillator.connect(envelope).connect(output)
  oscillator.start(start)
  oscillator.stop(start + length)
  return new Promise((resolve) => oscillator.addEventListener('ended', () => resolve(), { once: true }))
}
