import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'

const run = promisify(execFile)

const probeSchema = z.object({
  format: z.object({
    format_name: z.string(),
    tags: z.record(z.string(), z.string()).default({}),
  }),
  streams: z.array(
    z.object({
      index: z.int(),
      codec_name: z.string(),
      codec_type: z.string(),
      width: z.int().optional(),
      height: z.int().optional(),
      has_b_frames: z.int().optional(),
    }),
  ),
  packets: z.array(
    z.object({
      stream_index: z.int(),
      pts_time: z.coerce.number(),
      dts_time: z.coerce.number().optional(),
      duration_time: z.coerce.number().optional(),
      flags: z.string(),
    }),
  ),
})

/** A file as ffprobe reads it to its end. */
export interface RecordedFile {
  format: string
  /** End of the last packet, in seconds: a WebM that is written live names no duration. */
  duration: number
  /** Metadata tag of the recorder. */
  comment: unknown
  codecs: string[]
  width: number
  height: number
  pictures: { at: number; key: boolean }[]
  sounds: { at: number; duration: number }[]
}

/** Reads every packet of a file. @throws Error when ffprobe finds anything wrong */
export async function readRecorded(path: string): Promise<RecordedFile> {
  const { stdout, stderr } = await run(
    'ffprobe',
    ['-v', 'warning', '-of', 'json', '-show_format', '-show_streams', '-show_packets', path],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  if (stderr.trim() !== '') throw new Error(`${path}: ${stderr.trim()}`)
  const { format, streams, packets } = probeSchema.parse(JSON.parse(stdout))
  const ofKind = (kind: string): typeof packets => {
    const stream = streams.find(({ codec_type }) => codec_type === kind)
    return packets.filter(({ stream_index }) => stream_index === stream?.index)
  }
  const video = streams.find(({ codec_type }) => codec_type === 'video')
  const comment = Object.entries(format.tags).find(([name]) => name.toLowerCase() === 'comment')?.[1]
  return {
    format: format.format_name,
    duration: Math.max(0, ...packets.map(({ pts_time, duration_time }) => pts_time + (duration_time ?? 0))),
    comment: comment === undefined ? undefined : JSON.parse(comment),
    codecs: streams.map(({ codec_name }) => codec_name),
    width: video?.width ?? 0,
    height: video?.height ?? 0,
    pictures: ofKind('video').map(({ pts_time, flags }) => ({ at: pts_time, key: flags.startsWith('K') })),
    sounds: ofKind('audio').map(({ pts_time, duration_time }) => ({ at: pts_time, duration: duration_time ?? 0 })),
  }
}

/** Decodes a whole file. @throws Error with the complaints of the decoder */
export async function decodeRecorded(path: string): Promise<void> {
  const { stderr } = await run('ffmpeg', ['-v', 'error', '-i', path, '-fps_mode', 'vfr', '-f', 'null', '-'])
  if (stderr.trim() !== '') throw new Error(`${path}: ${stderr.trim()}`)
}
