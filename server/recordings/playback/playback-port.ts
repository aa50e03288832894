import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import type { Role } from '../../../shared/domain/roles.ts'

/** Somebody who asks for recordings, and has shown who they are. */
export interface PlaybackCaller {
  role: Role
  /** Account; empty: the console key, or the desktop's own window. */
  account: string
  /** Id of the account; empty: the console key, or the desktop's own window. */
  accountId: string
  /** Address of the client; empty: this machine. */
  address: string
  /** The access token may read recordings; true without one. */
  scoped: boolean
}

/** Somebody watches a stream: reported once for each caller and stream in a while. */
export interface WatchedRecording {
  caller: PlaybackCaller
  stream: RecordedStream
  userName: string
  /** Moment that is watched, in milliseconds since the epoch. */
  at: number
}

/** Somebody downloads an export: reported once for each account and export. */
interface DownloadedExport {
  caller: PlaybackCaller
  /** Id of the account that made it; empty: the console key, or the desktop's own window. */
  account: string
  streams: readonly RecordedStream[]
}

/** Rules and reports that the playback takes from the site. */
export interface PlaybackPort {
  /** Tells whether a caller may see recordings of a stream. @param segment tells whether it is a camera's */
  mayWatch(caller: PlaybackCaller, segment: SegmentStart): boolean
  /** Receives who watches what. */
  watched(event: WatchedRecording): void
  /** Receives who downloads which export. */
  downloaded(event: DownloadedExport): void
}
