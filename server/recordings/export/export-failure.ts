import { errorCode } from '../../../shared/error-code.ts'
import { ObjectError } from '../objects/object-error.ts'
import { EncoderMissingError, FfmpegError } from './ffmpeg-convert.ts'
import type { ExportFailure } from '../../../shared/domain/recording-exports.ts'

/** Thrown if nothing of a stream was recorded in a span. */
export class NothingRecordedError extends Error {
  override readonly name = 'NothingRecordedError'
}

/** Thrown if all files of a stream in a span are missing or damaged. */
export class FilesLostError extends NothingRecordedError {}

const byCode: Readonly<Record<string, ExportFailure>> = {
  ENOSPC: 'diskFull',
  EDQUOT: 'diskFull',
  EIO: 'unreadable',
  ENOENT: 'unreadable',
  EACCES: 'unreadable',
  EPERM: 'unreadable',
}

/** Returns the reason of a failed export. */
export function exportFailureOf(error: unknown): ExportFailure {
  if (error instanceof FilesLostError) return 'filesLost'
  if (error instanceof NothingRecordedError) return 'nothingRecorded'
  if (error instanceof EncoderMissingError) return 'encoderMissing'
  if (error instanceof FfmpegError) return error.message.includes('No space left') ? 'diskFull' : 'conversion'
  if (error instanceof ObjectError) return 'storageAway'
  const code = errorCode(error)
  return (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? 'unexpected'
}
