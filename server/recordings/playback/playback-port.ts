import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import type { Role } from '../../../shared/domain/roles.ts'

/** Authenticated caller who requests recordings. */
export interface PlaybackCaller {
  role: Role
  /** Account; empty: the console key, or the window of the desktop application. */
  account: string
  /** Id of the account; empty: the console key, or the window of the desktop application. */
  accountId: string
  /** Address of the client; empty: this machine. */
  address: string
  /** Whether the access token may read recordings; true without a token. */
  scoped: boolean
}

/** Report that a caller watches a stream, sent once per interval for each caller and stream. */
export interface WatchedRecording {
  caller: PlaybackCaller
  stream: RecordedStream
  userName: string
  /** Watched moment, in milliseconds since the epoch. */
  at: number
}

/** Report that a caller downloads an export, sent once for each account and export. */
interface DownloadedExport {
  caller: PlaybackCaller
  /** Id of the account that requested the export; empty: the console key, or the window of the desktop application. */
  account: string
  streams: readonly RecordedStream[]
}

/** Rules of the site that playback applies, and its reports to the site. */
export interface PlaybackPort {
  /**
   * Whether a caller may see recordings of a stream. @param segment segment of the stream, with the flag for cameras
   */
  mayWatch(caller: PlaybackCaller, segment: SegmentStart): boolean
  /** Reports that a caller watches a stream. */
  watched(event: WatchedRecording): void
  /** Reports that a caller downloads an export. */
  downloaded(event: DownloadedExport): void
}
