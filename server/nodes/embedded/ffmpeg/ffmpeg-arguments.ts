import type { FfmpegPlan } from '../../../../shared/media/ffmpeg.ts'
import type { FfmpegProgram, PictureEncoder } from './ffmpeg-program.ts'

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
export const soundDescriptor = 3

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
