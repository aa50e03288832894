import type { OwnPath } from '../../shared/files/own-path.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'

/** Span of one stream to export as a file. */
export interface ExportSpan extends RecordedStream {
  /** Start of the span, in milliseconds since the epoch by the node's clock. */
  from: number
  to: number
  picture: boolean
  sound: boolean
}

export interface ExportedFile {
  container: 'mp4' | 'webm'
  bytes: number
  /** Duration of the media in milliseconds. */
  durationMs: number
}

/** Exports a span of a recording as one file. */
export interface RecordingExport {
  /**
   * Writes one file: MP4 with its index at the front for H.264, H.265 and sound alone; WebM for VP8. The media is
   * transcoded only if its format changes in the span. The file starts at the key frame before `from`.
   * @param path path of the new file; removed if the export fails
   * @throws Error if nothing of the stream was recorded in this span, or the disk fails; AbortError
   */
  writeFile(request: ExportSpan, path: OwnPath, signal?: AbortSignal): Promise<ExportedFile>
}
