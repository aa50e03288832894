import { insideOf, type OwnPath } from '../../../../shared/files/own-path.ts'
import { makeInside } from '../../../../shared/files/real-path.ts'
import { createInterface } from 'node:readline'
import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { partSuffix } from '../../../../shared/recordings/segment-path.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { type FfmpegRun, liveEncoding, startFfmpeg, writeToProgram } from '../ffmpeg-run.ts'
import { PushFeed } from '../push-feed.ts'
import { soundChannels, sampleRate } from './sample-line.ts'

export interface MixEncoderDependencies {
  program: Pick<FfmpegProgram, 'path'>
  /** Recordings folder. */
  recordings: string
  /** Folder of the encoder's files. */
  folder: OwnPath
  name: string
  /** Arguments for the codec of the picture (`pictureArguments`); undefined: only sound. */
  picture: readonly string[] | undefined
  /**
   * Called when a file is complete.
   * @param number from 0
   * @param seconds end of the file's media, in seconds since the start of the encoder
   */
  completed: (number: number, seconds: number) => void
}

/** Minimum length of a file, in seconds: a file ends at the next key frame. */
const fileSeconds = 60
/** Time allowed for a regular exit, in milliseconds. */
const endMs = 3_000

/** ffmpeg process that writes fragmented MP4 from a picture and the samples of a mix. */
export class MixEncoder {
  readonly #run: FfmpegRun
  readonly #picture: PushFeed | undefined
  readonly #over = new AbortController()

  private constructor(dependencies: MixEncoderDependencies) {
    const { program, picture, completed } = dependencies
    this.#run = startFfmpeg(program, encoderArguments(dependencies), 1)
    this.#picture = picture === undefined ? undefined : new PushFeed(this.#run.stdin, { picture: true, sound: false })
    if (picture === undefined) this.#run.stdin.end()
    createInterface(this.#run.stdout).on('line', (line) => {
      const [file = '', , end = ''] = line.split(',')
      const [, number] = /-(\d+)\.mp4/.exec(file) ?? []
      if (number !== undefined) completed(Number(number), Number(end))
    })
    mustNotFail(this.#run.ended.then(() => this.#over.abort()))
  }

  /** @throws errors of the file system */
  static async start(dependencies: MixEncoderDependencies): Promise<MixEncoder> {
    await makeInside(dependencies.recordings, dependencies.folder, 0o700)
    return new MixEncoder(dependencies)
  }

  /** Aborts when ffmpeg has ended. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** Waits until ffmpeg has ended, and returns the last lines of its stderr. */
  async complaint(): Promise<string> {
    return (await this.#run.ended).complaint
  }

  /** Writes a fragment of the picture. @param startedAt see PushFeed.add @throws the errors of PushFeed.add */
  async addPicture(bytes: Uint8Array, startedAt: number): Promise<void> {
    await this.#picture?.add(bytes, startedAt)
  }

  /** Writes the next samples. @throws Error if ffmpeg has ended or is stuck */
  async addSound(sum: Float32Array): Promise<void> {
    const [input] = this.#run.inputs
    if (input !== undefined) await writeToProgram(input, new Uint8Array(sum.buffer, sum.byteOffset, sum.byteLength))
  }

  /** Completes the last file and ends ffmpeg. Never rejects. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#run.kill(), endMs)
    for (const input of this.#run.inputs) input.end()
    await this.#picture?.end()
    await this.#run.ended
    clearTimeout(timer)
  }
}

/** Returns the path of an encoder's file, relative to its folder. */
export function mixFile(name: string, number: number): string {
  return `${name}-${number}.mp4`
}

function encoderArguments({ folder, name, picture }: MixEncoderDependencies): string[] {
  const pictureInput = ['-probesize', '500000', '-analyzeduration', '1000000', '-f', 'matroska', '-i', 'pipe:0']
  const soundInput = ['-f', 'f32le', '-ar', String(sampleRate), '-ac', String(soundChannels), '-i', 'pipe:3']
  // ffmpeg would interpret a percent sign in the folder as part of the number format.
  const files = `${insideOf(folder, name).replaceAll('%', '%%')}-%d.mp4${partSuffix}`
  const fragments =
    picture === undefined ? 'empty_moov+default_base_moof' : 'empty_moov+default_base_moof+frag_keyframe'
  const shortest = picture === undefined ? 'frag_duration=1000000' : 'min_frag_duration=900000'
  return [
    ...(picture === undefined
      ? [...soundInput, '-map', '0:a:0']
      : [...pictureInput, ...soundInput, '-map', '0:v:0', '-map', '1:a:0', ...picture]),
    // The sum of several voices may exceed the maximum level of a file.
    ...['-af', 'alimiter=limit=0.95:level=disabled', '-c:a', 'aac', '-b:a', '96k'],
    ...['-f', 'segment', '-segment_time', String(fileSeconds), '-reset_timestamps', '1'],
    ...['-segment_list', 'pipe:1', '-segment_list_type', 'csv', '-segment_format', 'mp4'],
    ...['-segment_format_options', `movflags=${fragments}:${shortest}:flush_packets=1`, files],
  ]
}

/**
 * Returns the arguments for a picture: H.264 and H.265 are copied.
 * @param encoder encoder for other codecs; undefined: none
 * @returns undefined: the picture requires an encoder
 */
export function pictureArguments(codec: string, encoder: string | undefined): string[] | undefined {
  if (codec.startsWith('avc1')) return ['-c:v', 'copy']
  // Apple's players support H.265 only with this tag.
  if (/^h(vc|ev)1/.test(codec)) return ['-c:v', 'copy', '-tag:v', 'hvc1']
  if (encoder === undefined) return undefined
  return [...liveEncoding(encoder), '-force_key_frames', 'expr:gte(t,n_forced*2)']
}
