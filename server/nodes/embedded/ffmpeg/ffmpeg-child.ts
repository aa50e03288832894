import { Readable } from 'node:stream'
import { type FfmpegPlan, maxRunBytes, type RunOutput, runWindow, takenStep } from '../../../../shared/media/ffmpeg.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { type FfmpegProgram, type PictureEncoder, type SpawnedFfmpeg, spawnFfmpeg } from './ffmpeg-program.ts'

/** Receives events of a running ffmpeg. */
export interface FfmpegChildListener {
  /** Called with output of at most `maxRunBytes` bytes. */
  made(output: RunOutput, bytes: Buffer): void
  /** Called when `bytes` further bytes of the input were passed to the process. */
  taken(bytes: number): void
  /** Called once after the last output, unless `kill` was called. */
  ended(why: string, complaint: string): void
  /** Called once when the process has ended. */
  gone(): void
}

/** Timeout of a run that makes one small picture, in milliseconds. By then, its caller has timed out. */
const stillMs = 30_000

/** One running ffmpeg. It reads and writes only through pipes, without ports, files or logins. */
export class FfmpegChild {
  readonly #child: SpawnedFfmpeg['child']
  readonly #complaint: () => string
  readonly #listener: FfmpegChildListener
  readonly #outputs: Readable[] = []
  readonly #deadline: NodeJS.Timeout | undefined
  #over = false
  #gone = false
  /** Input bytes not yet reported as taken; `#takenNow` counts those that were already passed to the process. */
  #given = 0
  #takenNow = 0
  /** Output bytes that the receiver has not confirmed yet. */
  #waiting = 0

  /** Starts the program. If that fails, `ended` is called. */
  constructor(program: FfmpegProgram, plan: FfmpegPlan, listener: FfmpegChildListener, logger: NodeLogger) {
    this.#listener = listener
    const { child, complaint } = spawnFfmpeg(program.path, ffmpegArguments(program, plan), {
      descriptors: soundDescriptor + 1,
      // Conversions have a lower priority than media that needs no conversion.
      notLowered: (error) => logger.debug({ err: error }, 'the priority of ffmpeg could not be lowered'),
    })
    this.#child = child
    this.#complaint = complaint
    this.#child.on('error', (error) => this.#end(`it could not be started: ${error.message}`))
    this.#child.once('exit', () => this.#leave())
    // Emitted when all output was read.
    this.#child.once('close', (code, signal) => {
      this.#leave()
      this.#end(signal ?? `exit code ${code ?? 0}`)
    })
    if (plan.video?.still === true) this.#deadline = setTimeout(() => this.#child.kill('SIGKILL'), stillMs).unref()
    this.#listen()
  }

  /** Writes input. Returns false if the input exceeds the window. */
  write(bytes: Buffer): boolean {
    if (this.#given + bytes.length > runWindow + maxRunBytes) return false
    const { stdin } = this.#child
    this.#given += bytes.length
    // The process may end at any time. Input is then discarded, and `ended` follows.
    if (this.#over || !stdin.writable) this.#took(bytes.length)
    else stdin.write(bytes, () => this.#took(bytes.length))
    return true
  }

  /** Records that the receiver confirmed `bytes` output bytes. Returns false if fewer bytes are unconfirmed. */
  take(bytes: number): boolean {
    if (bytes > this.#waiting) return false
    const held = this.#waiting > runWindow
    this.#waiting -= bytes
    if (held && this.#waiting <= runWindow) for (const output of this.#outputs) output.resume()
    return true
  }

  /** Ends the input. The process writes its remaining output, and then ends. */
  finish(): void {
    this.#child.stdin.end()
  }

  /** Kills the process, without calling `ended`. */
  kill(): void {
    this.#over = true
    // Discards the output, so that the process can end.
    for (const output of this.#outputs) output.resume()
    this.#child.kill('SIGKILL')
  }

  #took(bytes: number): void {
    this.#takenNow += bytes
    if (this.#over || this.#takenNow < takenStep) return
    const taken = this.#takenNow
    this.#takenNow = 0
    this.#given -= taken
    this.#listener.taken(taken)
  }

  #listen(): void {
    const { stdout, stdio } = this.#child
    this.#read('pictures', stdout)
    // The types do not include this additional pipe.
    const sound: unknown = (stdio as readonly unknown[])[soundDescriptor]
    if (sound instanceof Readable) this.#read('sound', sound)
  }

  #read(output: RunOutput, pipe: Readable): void {
    this.#outputs.push(pipe)
    pipe.on('error', () => {})
    pipe.on('data', (chunk: Buffer) => {
      if (this.#over) return
      this.#waiting += chunk.length
      if (this.#waiting > runWindow) for (const each of this.#outputs) each.pause()
      for (let at = 0; at < chunk.length; at += maxRunBytes) {
        this.#listener.made(output, chunk.subarray(at, at + maxRunBytes))
      }
    })
  }

  #leave(): void {
    clearTimeout(this.#deadline)
    if (this.#gone) return
    this.#gone = true
    this.#listener.gone()
  }

  #end(why: string): void {
    if (this.#over) return
    this.#over = true
    this.#listener.ended(why, this.#complaint())
  }
}

/** Maximum sizes of pictures, in pixels. Larger pictures are scaled down. */
const largest = { width: 1_920, height: 1_080 }
const largestStill = { width: 320, height: 320 }
/** Maximum bit rate of video; also the size of the rate control buffer, in bits. */
const pictureRate = '4000k'
const keyFrameSeconds = 2
/** Number of threads that encode a picture. */
const threads = '2'
/** Bit rate of audio. */
const soundRate = '48k'

/** File descriptors that the program writes to. */
const pictureDescriptor = 1
const soundDescriptor = 3

/**
 * Expression that forces a key frame every two seconds, and on request (see `keyFrameRequestMs`). Before the first
 * forced key frame, prev_forced_t is NaN.
 */
const keyFrames = `expr:if(isnan(prev_forced_t),1,gte(t,prev_forced_t+${keyFrameSeconds}))+gt(mod(round(t*10000),10),2)`

/**
 * Returns the arguments of ffmpeg. With these, ffmpeg reads only Matroska from its standard input. It writes H.264 as
 * FLV, VP8 as IVF, and audio as Matroska, without delaying frames.
 */
export function ffmpegArguments({ version, pictures }: FfmpegProgram, { video, audio }: FfmpegPlan): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-protocol_whitelist', 'pipe'],
    // Disables buffering for analysis, so that each frame is passed on as it arrives. `nobuffer` would drop the first
    // frame, on which all others depend.
    ...['-flags', 'low_delay', '-probesize', '32', '-analyzeduration', '1', '-threads', '1'],
    ...['-fpsprobesize', '0'],
    ...['-max_alloc', '268435456', '-f', 'matroska', '-i', 'pipe:0', '-copyts'],
    ...(video === undefined ? [] : pictureArguments(video, video.codec === 'VP8' ? 'libvpx' : pictures, version)),
    ...(audio ? soundArguments() : []),
  ]
}

function pictureArguments(
  { codec, shownFromMs, interlaced, still }: NonNullable<FfmpegPlan['video']>,
  encoder: PictureEncoder | 'libvpx' | undefined,
  version: string,
): string[] {
  if (encoder === undefined) return []
  const { width, height } = still ? largestStill : largest
  const filters = [
    // Earlier frames are only decoded, because later frames depend on them.
    ...(shownFromMs > 0 ? [`select=gte(t\\,${(shownFromMs / 1_000).toFixed(4)})`] : []),
    ...(interlaced ? ['yadif=deint=interlaced'] : []),
    `scale=w=min(${width}\\,iw):h=min(${height}\\,ih):force_original_aspect_ratio=decrease:force_divisible_by=2`,
    'format=yuv420p',
  ]
  return [
    ...['-map', '0:v:0', '-vf', filters.join(','), ...(still ? ['-frames:v', '1'] : [])],
    ...[...passFrames(version), '-enc_time_base', '-1'],
    ...['-c:v', encoder, ...encoderArguments[encoder], '-maxrate', pictureRate, '-bufsize', pictureRate],
    ...['-g', '600', '-bf', '0', '-force_key_frames', keyFrames, '-flush_packets', '1'],
    ...(codec === 'VP8' ? ['-f', 'ivf'] : ['-flvflags', 'no_duration_filesize', '-f', 'flv']),
    `pipe:${pictureDescriptor}`,
  ]
}

const encoderArguments: Readonly<Record<PictureEncoder | 'libvpx', readonly string[]>> = {
  libx264: [
    ...['-preset', 'veryfast', '-tune', 'zerolatency', '-profile:v', 'baseline'],
    ...['-crf', '24', '-threads', threads],
  ],
  libopenh264: ['-profile:v', 'constrained_baseline', '-b:v', '2500k', '-threads', threads],
  h264_videotoolbox: ['-profile:v', 'baseline', '-realtime', '1', '-b:v', '2500k'],
  h264_mf: ['-b:v', '2500k', '-scenario', 'video_conference'],
  // Without a minimum quantizer, the encoder would spend the full bit rate on simple pictures.
  libvpx: [
    ...['-deadline', 'realtime', '-cpu-used', '8', '-lag-in-frames', '0', '-auto-alt-ref', '0'],
    ...['-b:v', '2500k', '-qmin', '10', '-qmax', '52', '-threads', threads],
  ],
}

/**
 * Returns the option that outputs each frame once, at its timestamp: `-fps_mode` since ffmpeg 5.1, `-vsync` before. A
 * version that does not begin with a number is a newer build.
 */
function passFrames(version: string): string[] {
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? []
  const older = major !== undefined && Number(major) * 100 + Number(minor) < 501
  return [older ? '-vsync' : '-fps_mode', 'passthrough']
}

function soundArguments(): string[] {
  return [
    ...['-map', '0:a:0', '-c:a', 'libopus', '-b:a', soundRate, '-ar', '48000', '-frame_duration', '20'],
    // At most two channels.
    ...['-af', 'aformat=channel_layouts=mono|stereo'],
    ...['-flush_packets', '1', '-cluster_time_limit', '1', '-f', 'matroska', `pipe:${soundDescriptor}`],
  ]
}
