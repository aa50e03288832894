import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readRecorded } from './recorded-file.ts'

const run = promisify(execFile)
/** Sample rate of the decoded sound, in Hz. */
const rate = 48_000
/** Silence between two beeps at least, in seconds. */
const pause = 0.3

/** Moments at which the picture turns from dark to bright, in seconds of media time. */
export async function flashes(path: string): Promise<number[]> {
  const { pictures } = await readRecorded(path)
  const times = pictures.map(({ at }) => at).toSorted((a, b) => a - b)
  const luma = await decoded(path, [
    '-map',
    '0:v',
    '-vf',
    'scale=1:1:flags=area,format=gray',
    '-fps_mode',
    'passthrough',
    '-f',
    'rawvideo',
  ])
  return times.filter((_, index) => index > 0 && (luma[index] ?? 0) > 128 && (luma[index - 1] ?? 255) < 128)
}

/** Moments at which a beep begins after silence, in seconds of media time. */
export async function beeps(path: string): Promise<number[]> {
  const { sounds } = await readRecorded(path)
  const samples = await decoded(path, ['-map', '0:a', '-ac', '1', '-ar', String(rate), '-f', 's16le'])
  const found: number[] = []
  let lastLoud = -Infinity
  for (let index = 0; index * 2 + 1 < samples.length; index++) {
    if (Math.abs(samples.readInt16LE(index * 2)) < 3_000) continue
    const at = index / rate
    if (at - lastLoud > pause && at > pause) found.push(at + (sounds[0]?.at ?? 0))
    lastLoud = at
  }
  return found
}

async function decoded(path: string, how: readonly string[]): Promise<Buffer> {
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, ...how, '-'], {
    encoding: 'buffer',
    maxBuffer: 256 * 1024 * 1024,
  })
  return stdout
}
