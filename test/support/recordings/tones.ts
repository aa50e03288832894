import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const rate = 16_000

/** Loudness of tones in the sound of a file, after its first second: 1 is a full scale. @param wanted frequencies in Hz, by name */
export async function tonesOf<Name extends string>(
  path: string,
  wanted: Readonly<Record<Name, readonly number[]>>,
): Promise<Record<Name, number[]>> {
  const asked = ['-nostdin', '-v', 'error', '-ss', '1', '-i', path, '-ac', '1', '-ar', String(rate), '-f', 's16le', '-']
  const { stdout } = await run('ffmpeg', asked, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 })
  const samples = new Int16Array(stdout.buffer, stdout.byteOffset, Math.floor(stdout.length / 2))
  const entries = Object.entries<readonly number[]>(wanted).map(([name, tones]) => [
    name,
    tones.map((hertz) => loudness(samples, hertz)),
  ])
  return Object.fromEntries(entries) as Record<Name, number[]>
}

/** Part of one frequency in samples. */
function loudness(samples: Int16Array, hertz: number): number {
  let [real, imaginary] = [0, 0]
  for (const [index, sample] of samples.entries()) {
    const angle = (2 * Math.PI * hertz * index) / rate
    real += sample * Math.cos(angle)
    imaginary += sample * Math.sin(angle)
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length / 32_768
}
