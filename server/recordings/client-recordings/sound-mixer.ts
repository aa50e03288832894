import PQueue from 'p-queue'
import type { OwnPath } from '../../../shared/files/own-path.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { fileInput, runFfmpeg } from '../export/ffmpeg-convert.ts'

export interface MixedSound {
  path: OwnPath
  container: 'mp4' | 'webm'
  /** Time of the first frame or sample, in milliseconds since the epoch. */
  startedAt: number
}

/** Picture and sounds to combine into one file. */
export interface MixRequest {
  /** Picture of the result; undefined: only sound. */
  picture: MixedSound | undefined
  sounds: readonly MixedSound[]
  container: 'mp4' | 'webm'
  /** Path of the result; the file already exists and is empty. */
  result: OwnPath
  signal: AbortSignal
}

/** Maximum number of concurrent mixes: each decodes and encodes hours of sound. */
const mixesAtOnce = 1
/** Maximum number of inputs of one mix. Listeners cannot distinguish more people in one sound. */
const maxSounds = 64

/** Mixes several sounds into one with ffmpeg; the picture is copied. */
export class SoundMixer {
  readonly #ffmpeg: LocalFfmpeg
  readonly #queue = new PQueue({ concurrency: mixesAtOnce })

  constructor(ffmpeg: LocalFfmpeg) {
    this.#ffmpeg = ffmpeg
  }

  /** Returns the reason why mixing is impossible, as a sentence; empty if it is possible. Never rejects. */
  async problem(): Promise<string> {
    await this.#ffmpeg.look()
    const { program } = this.#ffmpeg
    if (program === undefined) return 'The sound of several people needs ffmpeg: install it on the controller.'
    return program.sound ? '' : 'The sound of several people needs an ffmpeg with the encoder libopus.'
  }

  /** @throws Error if ffmpeg fails; AbortError */
  async mix(request: MixRequest): Promise<{ startedAt: number; durationMs: number }> {
    return await this.#queue.add(() => this.#mix(request), { signal: request.signal })
  }

  async #mix({
    picture,
    sounds,
    container,
    result,
    signal,
  }: MixRequest): Promise<{ startedAt: number; durationMs: number }> {
    const { program } = this.#ffmpeg
    if (program === undefined) throw new Error('ffmpeg is gone')
    const heard = sounds.slice(0, maxSounds)
    const startedAt = picture?.startedAt ?? Math.min(...heard.map((sound) => sound.startedAt))
    const inputs = [...(picture === undefined ? [] : [picture]), ...heard].flatMap(({ path, container: of }) =>
      fileInput(path, of),
    )
    const first = picture === undefined ? 0 : 1
    const moved = heard.map((sound, n) => `[${first + n}:a]${shift(sound.startedAt - startedAt)}[s${n}]`)
    const names = heard.map((_, n) => `[s${n}]`).join('')
    const sum = `${names}amix=inputs=${heard.length}:duration=longest:normalize=0,alimiter=limit=0.95[mix]`
    const sound = heard.length === 0 ? [] : ['-filter_complex', [...moved, sum].join(';'), '-map', '[mix]']
    let endUs = 0
    await runFfmpeg(
      program.path,
      [
        ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', '-progress', 'pipe:1'],
        ...inputs,
        ...(picture === undefined ? [] : ['-map', '0:v', '-c:v', 'copy']),
        ...sound,
        ...(container === 'mp4'
          ? ['-c:a', 'aac', '-b:a', '96k', '-movflags', '+faststart', '-f', 'mp4']
          : ['-c:a', 'libopus', '-b:a', '64k', '-f', 'webm']),
        result,
      ],
      {
        signal,
        line: (line) => {
          const [, time] = /^out_time_us=(\d+)/.exec(line) ?? []
          if (time !== undefined) endUs = Number(time)
        },
      },
    )
    return { startedAt, durationMs: endUs / 1_000 }
  }
}

/** Returns the ffmpeg filter that shifts a sound in time: silence delays it, a cut advances it. */
function shift(milliseconds: number): string {
  if (milliseconds >= 0) return `adelay=${Math.round(milliseconds)}:all=1`
  return `atrim=start=${(-milliseconds / 1_000).toFixed(3)},asetpts=PTS-STARTPTS`
}
