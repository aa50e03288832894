import type { FileHandle } from 'node:fs/promises'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { ExportFailure, ExportFormat, ExportState } from '../../../shared/domain/recording-exports.ts'

/** A span of streams to export as a file, or as a zip of files. */
export interface ExportRequest {
  streams: readonly RecordedStream[]
  /** Milliseconds since the epoch. */
  from: number
  to: number
  format: ExportFormat
  keepGaps: boolean
  picture: boolean
  sound: boolean
}

/** An export, with its progress. */
export interface ExportJob extends ExportRequest {
  id: string
  state: ExportState
  /** Done, 0 to 1. */
  progress: number
  /** Id of the account that made it; empty: the console key, or the desktop's own window. */
  account: string
  /** Name of the file; empty until it is there. */
  name: string
  bytes: number
  /** Not in the requested format, because ffmpeg is missing. */
  unconverted: boolean
  /** Reason of the failure; empty: none. */
  error: string
  failure?: ExportFailure
  /** Segments whose files are missing or damaged. */
  lost: number
  /** Deletion of the file, in milliseconds since the epoch; 0: there is no file. */
  expiresAt: number
}

/** The file of an export that is done. */
export interface ExportResult {
  open: () => Promise<FileHandle>
  name: string
  bytes: number
  account: string
  /** Streams that it holds. */
  streams: readonly RecordedStream[]
}

/** Returns a name that every file system accepts. */
export function fileName(name: string): string {
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
