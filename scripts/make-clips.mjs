// Makes the clips of the test cameras, server/media/test-camera/clips/*.ts, with ffmpeg (libx264, libx265, libopus and drawtext).
// Run it after a change of this file only: the clips are part of the repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { splitUnits } from '../server/media/rtp/nal-units.ts'

const folder = join(import.meta.dirname, '../server/media/test-camera/clips')
const seconds = 4

/** Runs ffmpeg and returns what it writes. */
const ffmpeg = (/** @type {string[]} */ ...options) =>
  execFileSync('ffmpeg', ['-v', 'error', ...options, '-'], { maxBuffer: 1 << 28 })

/** Input of a picture: a gradient with a grid, a label, the second of the clip, and a square that moves to the right. */
function picture(/** @type {number} */ width, /** @type {number} */ height, /** @type {number} */ rate) {
  const side = Math.round(height / 6)
  const text = (/** @type {string} */ words, /** @type {number} */ share, /** @type {string} */ y) =>
    `drawtext=text='${words}':fontsize=h/${share}:fontcolor=white:x=(w-tw)/2:y=${y}`
  return [
    ...[
      '-f',
      'lavfi',
      '-i',
      `gradients=s=${width}x${height}:r=${rate}:c0=0x1d3557:c1=0x457b9d:x0=0:y0=0:x1=${width}:y1=${height}:speed=0.00001:d=${seconds}`,
    ],
    ...['-f', 'lavfi', '-i', `color=c=0xe63946:s=${side}x${side}:r=${rate}:d=${seconds}`],
    '-filter_complex',
    `[0]drawgrid=w=iw/8:h=ih/5:t=1:c=white@0.15,${text('Roomdesk lab', 10, 'h/10')},${text('%{eif\\:floor(t)+1\\:d}', 3, '(h-th)/2')}[g];[g][1]overlay=x='(W-w)*t/${seconds}':y='H-h*1.3'`,
    ...['-pix_fmt', 'yuv420p'],
  ]
}

/** Splits Annex B with access unit delimiters into pictures in Annex B, without delimiters and SEI. */
function pictures(
  /** @type {Buffer} */ film,
  /** @type {(unit: Buffer) => number} */ typeOf,
  /** @type {number} */ delimiter,
  /** @type {number} */ sei,
) {
  /** @type {Buffer[][]} */
  const all = []
  for (const unit of splitUnits(film)) {
    const type = typeOf(unit)
    if (type === delimiter) all.push([])
    else if (type !== sei) all.at(-1)?.push(Buffer.from([0, 0, 1]), unit)
  }
  return all.map((parts) => Buffer.concat(parts))
}

const h264 = (/** @type {number} */ width, /** @type {number} */ height) =>
  pictures(
    ffmpeg(
      ...picture(width, height, 12),
      '-c:v',
      'libx264',
      '-profile:v',
      'baseline',
      '-level',
      '3.0',
      '-crf',
      '28',
      '-g',
      '24',
      '-sc_threshold',
      '0',
      '-x264-params',
      'aud=1:repeat-headers=1',
      '-f',
      'h264',
    ),
    (unit) => (unit[0] ?? 0) & 0x1f,
    9,
    6,
  )
const h265 = (/** @type {number} */ width, /** @type {number} */ height) =>
  pictures(
    ffmpeg(
      ...picture(width, height, 12),
      '-c:v',
      'libx265',
      '-x265-params',
      'log-level=none:keyint=24:min-keyint=24:scenecut=0:bframes=0:crf=30:aud=1:repeat-headers=1',
      '-f',
      'hevc',
    ),
    (unit) => ((unit[0] ?? 0) >> 1) & 0x3f,
    35,
    39,
  )

/** Two seconds, because the pictures are large. */
function jpeg(/** @type {number} */ width, /** @type {number} */ height) {
  const film = ffmpeg(
    ...picture(width, height, 5),
    '-t',
    '2',
    '-c:v',
    'mjpeg',
    '-huffman',
    'default',
    '-q:v',
    '9',
    '-pix_fmt',
    'yuvj420p',
    '-f',
    'image2pipe',
  )
  const frames = []
  for (let at = 0; at < film.length; ) {
    const end = film.indexOf('\xff\xd9', at, 'latin1') + 2
    frames.push(film.subarray(at, end))
    at = end
  }
  return frames
}

/** Input of a sound: a tone of 0.15 s each second. */
const sound = (/** @type {number} */ rate, /** @type {number} */ length) => [
  ...['-f', 'lavfi', '-i', `aevalsrc='0.3*sin(2*PI*600*t)*lt(mod(t\\,1)\\,0.15)':s=${rate}:d=${length}`],
]

function aac() {
  // 125 frames of 1,024 samples at 16 kHz: 8 s.
  const film = ffmpeg(...sound(16_000, 9), '-c:a', 'aac', '-b:a', '24k', '-f', 'adts')
  const frames = []
  for (let at = 0; at + 7 < film.length && frames.length < 125; ) {
    const length = (film.readUIntBE(at + 3, 3) >> 5) & 0x1fff
    frames.push(film.subarray(at + 7, at + length))
    at += length
  }
  return frames
}

async function opus() {
  const file = ffmpeg(...sound(48_000, 2), '-c:a', 'libopus', '-b:a', '16k', '-frame_duration', '20', '-f', 'webm')
  using input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS })
  const track = await input.getPrimaryAudioTrack()
  if (track === null) throw new Error('no sound')
  const frames = []
  for await (const { data } of new EncodedPacketSink(track).packets()) frames.push(Buffer.from(data))
  return frames.slice(0, 50)
}

function g711(/** @type {'alaw' | 'mulaw'} */ codec) {
  const film = ffmpeg(...sound(8_000, 1), '-f', codec)
  return Array.from({ length: film.length / 160 }, (_, index) => film.subarray(index * 160, index * 160 + 160))
}

/** Frames in base64, each behind its length in 32 bits. */
function text(/** @type {Buffer[]} */ frames) {
  const parts = frames.flatMap((frame) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(frame.length)
    return [length, frame]
  })
  return Buffer.concat(parts).toString('base64')
}

function write(/** @type {string} */ name, /** @type {Record<string, Buffer[]>} */ clips) {
  const lines = Object.entries(clips).map(([clip, frames]) => `export const ${clip} =\n  '${text(frames)}'\n`)
  writeFileSync(join(folder, `${name}.ts`), `/** Made by scripts/make-clips.mjs. */\n${lines.join('')}`)
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
write('h264', { large: h264(640, 360), small: h264(320, 180) })
write('h265', { large: h265(640, 360), small: h265(320, 180) })
write('jpeg', { large: jpeg(320, 192), small: jpeg(160, 96) })
write('sound', { aac: aac(), opus: await opus(), pcma: g711('alaw'), pcmu: g711('mulaw') })
