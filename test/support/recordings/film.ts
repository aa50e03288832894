import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../../../node_modules/.cache')

/** Squares in a row at the top left, white for a 1: the number of the picture in binary, the lowest bit first. */
export const counterBits = 16
/** Side of one square in pixels. */
export const counterSquare = 16

/** A film that shows the number of each of its pictures, with a tone. */
export interface Film {
  codec: 'h264' | 'h265' | 'vp8'
  seconds: number
  width: number
  height: number
  fps: number
  /** Pictures from one key frame to the next. */
  gop: number
  sound: 'opus' | 'aac' | 'none'
  /** Hz. */
  tone: number
}

/** Film of the tests that do not ask for another one. */
export const smallFilm: Film = {
  codec: 'h264',
  seconds: 12,
  width: 320,
  height: 180,
  fps: 25,
  gop: 25,
  sound: 'opus',
  tone: 440,
}

const encoders = {
  h264: [
    'libx264',
    '-preset',
    'ultrafast',
    '-tune',
    'zerolatency',
    '-pix_fmt',
    'yuv420p',
    '-x264-params',
    'scenecut=0',
  ],
  h265: ['libx265', '-preset', 'ultrafast', '-tune', 'zerolatency', '-x265-params', 'scenecut=0:bframes=0:log-level=0'],
  vp8: ['libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-auto-alt-ref', '0', '-b:v', '600k'],
}

/** Makes a film by ffmpeg as Matroska, and returns its path. Kept for the next run. */
export async function filmOf(film: Film): Promise<string> {
  const { codec, seconds, width, height, fps, gop, sound, tone } = film
  const file = join(folder, `film-${codec}-${seconds}s-${width}x${height}-${fps}fps-${gop}gop-${sound}-${tone}hz.mkv`)
  if (existsSync(file)) return file
  const squares = Array.from(
    { length: counterBits },
    (_, bit) =>
      `drawbox=x=${bit * counterSquare}:y=0:w=${counterSquare}:h=${counterSquare}:t=fill:color=white:enable='gt(bitand(n,${2 ** bit}),0)'`,
  )
  const black = `drawbox=x=0:y=0:w=${counterBits * counterSquare}:h=${counterSquare}:t=fill:color=black`
  const picture = `testsrc=size=${width}x${height}:rate=${fps}:duration=${seconds},${[black, ...squares].join(',')}`
  const sounds =
    sound === 'none'
      ? []
      : [
          '-f',
          'lavfi',
          '-i',
          `sine=frequency=${tone}:sample_rate=48000:duration=${seconds}`,
          '-c:a',
          sound === 'opus' ? 'libopus' : 'aac',
          '-b:a',
          '32k',
        ]
  await mkdir(folder, { recursive: true })
  const part = `${file}.${process.pid}.mkv`
  const [encoder = '', ...options] = encoders[codec]
  const video = ['-c:v', encoder, ...options, '-g', String(gop), '-keyint_min', String(gop)]
  await run('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', picture, ...sounds, ...video, part])
  await rename(part, file)
  return file
}
