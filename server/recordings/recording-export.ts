import type { OwnPath } from '../../shared/files/own-path.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'

/** A span of one stream that becomes a file. */
export interface ExportWish extends RecordedStream {
  /** Milliseconds since the epoch, by the node's clock. */
  from: number
  to: number
  picture: boolean
  sound: boolean
}

/** A complete file. */
export interface ExportedFile {
  container: 'mp4' | 'webm'
  bytes: number
  /** Milliseconds of media time. */
  durationMs: number
}

/** Writes spans of recordings as one file that plays anywhere. */
export interface RecordingExport {
  /**
   * Writes one file without transcoding: MP4 with its index in front for H.264, H.265 and sound alone; WebM for VP8. It begins at the key frame before `from`.
   * @param path is created; a partial file is removed on failure
   * @throws Error nothing of the stream was recorded in this span, or the disk refuses; AbortError
   */
  writeFile(wish: ExportWish, path: OwnPath, signal?: AbortSignal): Promise<ExportedFile>
}
