/** The stored records of recordings and live streams: see records.ts. */

import type { StreamSource } from '../../shared/media/stream-source.ts'
import type { RecordingStarter, RecordingStream } from '../../shared/domain/recordings.ts'

/** A manual recording that was started and not stopped yet. */
export interface StoredManualRecording {
  room_id: string
  /** Device or participant; empty: the whole room. */
  user_id: string
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  at: number
  /**
   * Whether it is the recording of a camera: it ends when the camera leaves the room. Left out for a room or a person,
   * and in records of earlier versions.
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
  /** Account, or kind of proof. */
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
  /** Empty: the whole room. */
  user_id: string
  /** Audio streams: none, the user's own (for a room: everybody's own), or all of the room mixed. */
  sound: 'none' | 'own' | 'room'
  /** `screen`: the user's shared screen. */
  picture: 'none' | 'main' | 'screen'
  /** Requested format; left out: any format that the codecs allow. */
  container?: 'mp4' | 'webm'
  /** finishing: its files are being written. */
  state: 'recording' | 'finishing' | 'available' | 'failed'
  /** Reason of the failure, one sentence; left out: no failure. */
  reason?: string
  /** access_key; empty: an operator. */
  created_by: string
  /** Name of the operator, as in events; left out: a client started it, or an earlier version stored it. */
  ordered_by?: string
  created_at: number
  /** Left out while recording. */
  ended_at?: number
  /** Random part of the URLs of its files. Anybody with the URL may download them while the capability exists. */
  token_sealed: string
  /** Key of its capability; left out in records of earlier versions. */
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
 * Deletion of a recording whose files must be removed. It is stored with the deletion, so that every later leader
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
  /** `failed` has a reason. */
  state: 'living' | 'stopped' | 'failed'
  reason?: string
  created_by: string
  /** See StoredRecording. */
  ordered_by?: string
  created_at: number
  ended_at?: number
  /** URLs that the client gave for its viewers; returned unchanged. Empty: none. */
  rtmp_url: string
  hls_url: string
  /** The stream is pushed to the address in `secrets_sealed`; left out: no push, or a record of an earlier version. */
  pushed?: true
  /** JSON `{link, publish}`: the token of its page and playlist, and the push address, which often contains a key. */
  secrets_sealed: string
  /** Key of the capability with which it ends; left out in records of earlier versions. */
  capability?: string
}
