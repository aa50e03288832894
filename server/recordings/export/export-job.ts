import type { FileHandle } from 'node:fs/promises'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { ExportFailure, ExportFormat, ExportState } from '../../../shared/domain/recording-exports.ts'

/** Span of streams to export as one file or as a zip of files. */
export interface ExportRequest {
  streams: readonly RecordedStream[]
  /** Start of the span, in milliseconds since the epoch. */
  from: number
  to: number
  format: ExportFormat
  keepGaps: boolean
  picture: boolean
  sound: boolean
}

export interface ExportJob extends ExportRequest {
  id: string
  state: ExportState
  /** Completed part, 0 to 1. */
  progress: number
  /** Id of the account that requested the export; empty: the console key, or the window of the desktop application. */
  account: string
  /** Name of the file; empty until it is complete. */
  name: string
  bytes: number
  /** Whether the file is not in the requested format, because ffmpeg is missing. */
  unconverted: boolean
  /** Reason of the failure; empty: none. */
  error: string
  failure?: ExportFailure
  /** Number of segments whose files are missing or damaged. */
  lost: number
  /** Time at which the file is deleted, in milliseconds since the epoch; 0 if there is no file. */
  expiresAt: number
}

export interface ExportResult {
  open: () => Promise<FileHandle>
  name: string
  bytes: number
  account: string
  /** Streams in the file. */
  streams: readonly RecordedStream[]
}

/** Returns a name that every file system accepts. */
export function exportFileName(name: string): string {
  return (
    name
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+|[.-]+$/g, '')
      .slice(0, 60) || 'recording'
  )
}

/** Formats a moment in UTC for a file name. */
export function stampOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}
