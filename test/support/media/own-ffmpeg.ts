import { FfmpegRunner } from '../../../server/media/transcode/ffmpeg-runner.ts'
import { FfmpegRuns } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-runs.ts'
import { LocalFfmpeg } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { FfmpegTell } from '../../../shared/media/ffmpeg.ts'
import { complaintLog } from './complaints.ts'

const noLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Notifies a node of the ffmpeg that its controller runs. @param program path or name; empty: that of this machine */
export function ffmpegRuns(
  tell: (message: FfmpegTell) => void,
  { program = '', transcoders = () => 4 }: { program?: string | undefined; transcoders?: () => number } = {},
): FfmpegRuns {
  return new FfmpegRuns({ ffmpeg: new LocalFfmpeg(program, noLog), tell, transcoders, logger: noLog })
}

/** Runs ffmpeg for the node without a process in between. @param program path or name */
export function ffmpegRunner(program: string): FfmpegRunner {
  const runs = ffmpegRuns((message) => setImmediate(() => runner.take(message)), { program })
  const runner = new FfmpegRunner((message) => runs.take(message), complaintLog())
  return runner
}
