/** The stored records of recordings and live streams: see records.ts. */

import type { StreamSource } from '../../shared/media/stream-source.ts'
import type { RecordingStarter, RecordingStream } from '../../shared/domain/recordings.ts'

/** A manual recording that was started and not stopped yet. */
export interface StoredManualRecording {
  room_id: string
  /** Id of the device or participant; empty: the whole room. */
  user_id: string
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  at: number
  /**
   * Whether a camera is recorded: the recording ends when the camera leaves the room. Left out for a room or a
   * participant, and in records of earlier versions.
   */
  camera?: boolean
  /** Start of the meeting with which the recording ends; left out: no meeting yet. */
  meeting?: number
}

/** A span of recordings that is exempt from retention. */
export interface StoredRecordingKeep {
  id: string
  streams: readonly RecordingStream[]
  from: number
  to: number
  note: string
  /** Account, or kind of sign-in without an account. */
  kept_by: string
  kept_at: number
}

/** A recording that an API client or an operator started, with a start, an end and its own files. */
export interface StoredRecording {
  id: string
  name: string
  tag: string
  description: string
  room_id: string
  /** Id of the recorded user; empty: the whole room. */
  user_id: string
  /**
   * Recorded audio. `own`: audio of the user (for a room: of each user separately); `room`: mixed audio of the room.
   */
  sound: 'none' | 'own' | 'room'
  /** `screen`: the user's shared screen. */
  picture: 'none' | 'main' | 'screen'
  /** Requested format; left out: any format that the codecs allow. */
  container?: 'mp4' | 'webm'
  /** `finishing`: the files are being written. */
  state: 'recording' | 'finishing' | 'available' | 'failed'
  /** Reason of the failure, one sentence; left out: no failure. */
  reason?: string
  /** access_key; empty: an operator. */
  created_by: string
  /** Name of the operator, as in events; left out: a client started it, or an earlier version stored it. */
  ordered_by?: string
  created_at: number
  /** End of the recording, in milliseconds since the epoch; left out while recording. */
  ended_at?: number
  /**
   * Random part of the URLs of the recording's files. Anyone with a URL may download the file while the capability
   * exists.
   */
  token_sealed: string
  /** Key of the recording's capability; left out in records of earlier versions. */
  capability?: string
  files: readonly StoredRecordingFile[]
}

/** A complete file of a recording. */
export interface StoredRecordingFile {
  /** Name relative to the folder of client recordings. */
  file: string
  user_id: string
  source: StreamSource
  container: 'mp4' | 'webm'
  bytes: number
  duration_ms: number
  started_at: number
}

/**
 * Files to remove after the deletion of a recording. Stored together with the deletion, so that every later leader
 * removes the files from its own folder.
 */
export interface StoredRecordingRemoval {
  /** Names of the recording's files. */
  files: readonly string[]
  /** Time of the deletion, in milliseconds since the epoch; left out in records of earlier versions. */
  at?: number
}

/** A live stream that an API client started. */
export interface StoredLive {
  id: string
  name: string
  tag: string
  room_id: string
  user_id: string
  sound: 'none' | 'own' | 'room'
  picture: 'none' | 'main' | 'screen'
  /** `failed`: `reason` is set. */
  state: 'living' | 'stopped' | 'failed'
  reason?: string
  created_by: string
  /** See StoredRecording. */
  ordered_by?: string
  created_at: number
  ended_at?: number
  /** URLs for viewers that the client specified; returned unchanged. Empty: none. */
  rtmp_url: string
  hls_url: string
  /**
   * Set if the stream is pushed to the address in `secrets_sealed`; left out: no push, or a record of an earlier
   * version.
   */
  pushed?: true
  /**
   * JSON `{link, publish}`: the token of the stream's page and playlist, and the push address, which often contains a
   * key.
   */
  secrets_sealed: string
  /** Key of the capability with which the live stream ends; left out in records of earlier versions. */
  capability?: string
}
