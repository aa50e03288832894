import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { matroskaFrame, matroskaHeader, ticksPerMs } from '../../../server/media/transcode/matroska.ts'

/** Duration of an Opus frame of the node, in milliseconds. */
const frameMs = 20

/** Measures the frequency in frames of Opus, in Hz, decoded by ffmpeg; NaN for silence. */
export async function toneOf(frames: readonly Buffer[]): Promise<number> {
  const head = Buffer.from('4f70757348656164010200004ebb0000000000', 'hex').subarray(0, 19)
  const stream = Buffer.concat([
    matroskaHeader([{ number: 1, codecId: 'A_OPUS', codecPrivate: head, audio: { sampleRate: 48_000, channels: 2 } }]),
    ...frames.map((frame, index) => matroskaFrame(1, index * frameMs * ticksPerMs, true, frame)),
  ])
  const decoder = spawn('ffmpeg', '-hide_banner -loglevel error -i pipe:0 -ac 1 -ar 48000 -f s16le pipe:1'.split(' '), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  decoder.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  decoder.stdin.on('error', () => {})
  decoder.stdin.end(stream)
  await once(decoder, 'close')
  const samples = Buffer.concat(chunks)
  const at = (index: number): number => samples.readInt16LE(index * 2)
  const count = samples.length / 2
  let crossings = 0
  let loudest = 0
  // Skips the first frames, in which a decoder settles.
  for (let index = 4_801; index < count; index++) {
    loudest = Math.max(loudest, Math.abs(at(index)))
    if (at(index - 1) < 0 && at(index) >= 0) crossings += 1
  }
  return loudest < 1_000 ? NaN : (crossings * 48_000) / (count - 4_801)
}
