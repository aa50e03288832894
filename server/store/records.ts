/** The records as they are stored. Secrets are sealed texts (`*_sealed`): they leave the store through `Store.unseal` only. */

import type { EventEntry } from '../../shared/domain/events.ts'
import type { Role } from '../../shared/domain/roles.ts'
import type { TokenScope } from '../../shared/domain/token-scopes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { DigestForm } from '../../shared/settings/network.ts'
import type { StreamSource } from '../../shared/media/stream-source.ts'
import type { NodeConfig } from '../../shared/node.ts'
import type { WallArrangement, WallItem } from '../../shared/domain/wall-layout.ts'
import type { EntryByNumber } from '../../shared/room-entry.ts'
import type { ScheduleMark } from '../schedule/room-hours.ts'
import type { RecordingRule } from '../../shared/recordings/recording-rule.ts'
import type { RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import type { TemplateSettings } from '../../shared/domain/room-templates.ts'
import type { RecordingStarter, RecordingStream } from '../../shared/domain/recordings.ts'

/** A key pair that a client authenticates with. */
export interface StoredCredential {
  access_key: string
  secret_key_sealed: string
  label: string
  enabled: boolean
  /** May create rooms of room_mode 3 and 4. */
  p2p: boolean
  /** Milliseconds since the epoch, as every `_at`. */
  created_at: number
  rotated_at: number
  /** How often everything that it had opened was ended; left out: never. */
  generation?: number
}

/** The settings; the credentials of TURN servers are sealed. */
export interface StoredSettings extends Omit<Settings, 'media' | 'object_storage'> {
  /** Every secret of the site is sealed for its place: one without a place opens no more. Left out: not yet. */
  sealed_for_places?: true
  /** The same of the addresses to which secrets are sent. */
  sealed_for_addresses?: true
  media: Omit<Settings['media'], 'ice_servers'> & { ice_servers: readonly StoredIceServer[] }
  /** Left out: stored by an earlier version. */
  object_storage?: StoredObjectStorage
}

/** Object storage of recordings. */
interface StoredObjectStorage extends Omit<Settings['object_storage'], 'secret_access_key' | 'networks'> {
  /** Left out: stored by an earlier version. */
  networks?: readonly string[]
  /** Empty when there is none. */
  secret_sealed: string
}

/** A STUN or TURN server. */
export interface StoredIceServer extends Omit<Settings['media']['ice_servers'][number], 'credential'> {
  /** Empty when there is none. */
  credential_sealed: string
}

/** A session that an authentication opened. The token itself is not stored: the key is its SHA-256. */
export interface StoredSession {
  access_key: string
  form: DigestForm
  created_at: number
  used_at: number
}

/** An MCU node; what its kind keeps secret is sealed under `secrets_sealed` (JSON). */
export interface StoredNode extends NodeConfig {
  created_at: number
  draining: boolean
  /** When draining began, and how many rooms it had then; left out while it does not drain. */
  drain?: { since: number; rooms: number }
  secrets_sealed: string
}

/** A room (specification, section 2.1) and what the controller keeps with it. */
export interface StoredRoom {
  /** Never reused. */
  id: number
  room_id: string
  topic: string
  owner_id: string
  /** Empty when the room has no host password. */
  host_password_sealed: string
  attendee_max: number
  max_audio: number
  max_video: number
  /** Empty when the caller gave none. */
  room_extend_id: string
  room_mode: 1 | 2 | 3 | 4
  /** Wishes of the operator; scheduled and open follow from the users in it. */
  locked: boolean
  closed: boolean
  /** Whether its number is enough to join it; left out: as the site says. */
  entry_by_number?: EntryByNumber
  /** A host lets people in; left out: nobody waits. */
  waiting_room?: boolean
  /** When it is open; left out: always. */
  schedule?: RoomSchedule
  /** Last change by its schedule that was performed; left out: none. */
  schedule_mark?: ScheduleMark
  /** Left out: none. */
  tags?: readonly string[]
  /** Name of the node that serves it; empty when it was never assigned. */
  node: string
  /** Names of further nodes that hold it for some of its people, the oldest first; left out: none. Only where `node` is named, and is not among them. */
  branches?: readonly string[]
  /** access_key that created it; empty when the operator did. */
  created_by: string
  created_at: number
  /** When it is recorded; left out: as the site says. */
  recording?: RecordingRule
  /** Users who were removed lately, and whose earlier links are void; left out: nobody. */
  removals?: readonly StoredRemoval[]
}

/** A user who was removed from a room. */
export interface StoredRemoval {
  user_id: string
  /** Id of the join link that was used; empty for none. */
  token_id: string
  at: number
  /** Refused until then, whatever the link. */
  until: number
}

/** An outgoing user: an external device that is meant to be in a room (specification, section 2.3). */
export interface StoredDevice {
  roomId: string
  userId: string
  userName: string
  /** Without login. */
  userAddress: string
  userData: string
  /** As the caller gave them, without login_password. */
  options: Record<string, unknown>
  /** Empty when there is none. */
  login_password_sealed: string
  /** Left out: none. */
  tags?: readonly string[]
  /** The operator paused it: it stays, and is not joined. */
  paused: boolean
  /** When it is recorded; left out: as the site says. */
  recording?: RecordingRule
  created_at: number
}

/** A recording that somebody started by hand, and nobody has stopped. */
export interface StoredRecordingWish {
  room_id: string
  /** Camera or person; empty: the whole room. */
  user_id: string
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  at: number
  /** Of a camera: ends when it leaves the room. Left out: of the room or a person, and by earlier versions. */
  camera?: boolean
  /** Beginning of the meeting with which it ends; left out: none yet. */
  meeting?: number
}

/** A span of recordings that is kept whatever the retention. */
export interface StoredRecordingKeep {
  id: string
  streams: readonly RecordingStream[]
  from: number
  to: number
  note: string
  /** Account or kind of proof. */
  kept_by: string
  kept_at: number
}

/** Settings from which rooms are created. */
export interface StoredRoomTemplate {
  id: string
  name: string
  settings: TemplateSettings
  changed_at: number
}

/** A recording that a client of an API or an operator started: with a beginning, an end and files of its own. */
export interface StoredRecording {
  id: string
  name: string
  tag: string
  description: string
  room_id: string
  /** Empty: the whole room. */
  user_id: string
  /** Streams of it: none, the user's own (or everybody's own, of a room), or all of the room as one sound. */
  sound: 'none' | 'own' | 'room'
  /** `screen` is the user's screen. */
  picture: 'none' | 'main' | 'screen'
  /** Wanted; left out: whatever its codecs allow. */
  container?: 'mp4' | 'webm'
  /** finishing: its files are being made. */
  state: 'recording' | 'finishing' | 'available' | 'failed'
  /** Why it failed, one sentence; left out: it did not. */
  reason?: string
  /** access_key; empty: an operator. */
  created_by: string
  /** Name of the operator, as events hold it; left out: a client ordered it, or an earlier version stored it. */
  ordered_by?: string
  created_at: number
  /** Left out while it is recorded. */
  ended_at?: number
  /** Random part of the URLs of its files: whoever has one may download, as long as its capability exists. */
  token_sealed: string
  /** Key of its capability; left out: stored by an earlier version. */
  capability?: string
  files: readonly StoredRecordingFile[]
}

/** A complete file of a recording. */
export interface StoredRecordingFile {
  /** Name below the folder of such files. */
  file: string
  user_id: string
  source: StreamSource
  container: 'mp4' | 'webm'
  bytes: number
  duration_ms: number
  started_at: number
}

/** Deletion of a recording whose files have to be removed. Stored with the deletion, so that each controller that leads removes them from its folder. */
export interface StoredRecordingRemoval {
  /** Names of the files that the recording had. */
  files: readonly string[]
  /** Moment of the deletion, in milliseconds since the epoch; left out: an earlier version stored it. */
  at?: number
}

/** A live stream that a client of an API started. */
export interface StoredLive {
  id: string
  name: string
  tag: string
  room_id: string
  user_id: string
  sound: 'none' | 'own' | 'room'
  picture: 'none' | 'main' | 'screen'
  /** stopped, or failed with a reason. */
  state: 'living' | 'stopped' | 'failed'
  reason?: string
  created_by: string
  /** See StoredRecording. */
  ordered_by?: string
  created_at: number
  ended_at?: number
  /** Given by the client for its viewers, and only returned. Empty: none. */
  rtmp_url: string
  hls_url: string
  /** It is pushed to the address in `secrets_sealed`; left out: it is not, or an earlier version stored it. */
  pushed?: true
  /** JSON `{link, publish}`: the token of its page and playlist, and the address to push to, which often holds a key. */
  secrets_sealed: string
  /** Key of its capability, with which it ends; left out: stored by an earlier version. */
  capability?: string
}

/** A saved view of the wall of pictures. */
export interface StoredWallView {
  id: string
  name: string
  items: WallItem[]
  /** Left out: equal tiles on one page. */
  arrangement?: WallArrangement | undefined
  /** Rises with each change. */
  revision: number
  changed_at: number
}

/** Somebody who may use the console. */
export interface StoredAccount {
  id: string
  name: string
  role: Role
  enabled: boolean
  /** A scrypt hash, as `hashPassword` writes it. */
  password_sealed: string
  /** Random, and another one with every new password, new role and disabling: sessions of an earlier one are over. */
  stamp: string
  created_at: number
  password_changed_at: number
}

/** A browser that is signed in with an account. Its cookie is not stored: the key is its SHA-256. */
export interface StoredAccountSession {
  account: string
  /** Stamp of the account at that time. */
  stamp: string
  address: string
  browser: string
  created_at: number
  used_at: number
  /** When its person last gave the password again; left out: not since it began. */
  password_at?: number
  /** Digest of the page's half; left out: begun by an earlier version, and void. */
  page?: string
}

/** A personal access token. It is not stored itself: the key is its SHA-256. */
export interface StoredAccessToken {
  /** Id of its account. */
  account: string
  label: string
  /** Bound of what it may do; left out: the account's role is the only one. */
  role?: Role
  /** Left out in records of versions without scopes: those of use to `role`. */
  scopes?: readonly TokenScope[]
  created_at: number
  expires_at: number
}

/** When an account last signed in, or a token was last used. Apart from them, because it may be lost. */
export interface StoredUse {
  at: number
  /** Number of an event log's entry that was on disk by then. */
  seq?: number
}

/** A camera in a room of a node that lives on without the controller: what takes it over again. */
export interface StoredCameraBridge {
  /** Name of the node. */
  node: string
  room_id: string
  user_id: string
  user_name: string
  /** Its session with the node, and the two handles in it: of the room, and of the camera. */
  session: number
  publisher: number
  subscriber: number
  /** A third handle of the session, for what concerns no single camera. */
  control: number
  /** Id of the mountpoint that pulls the camera, on the node. */
  mountpoint: string
  /** When its media first flowed; 0: it has not yet. */
  joined_at: number
}

/** A stream that one node hands to another, which lives on without the controller: what takes it over again. */
export interface StoredRelayBridge {
  room_id: string
  /** The participant that publishes it. */
  stream: string
  /** Its form with the shown name: when they change, the camera is relayed again. */
  form: string
  display: string
  /** Name of the node that has it, our session there, and the handle that subscribes in it. */
  from_node: string
  from_session: number
  subscriber: number
  /** Name of the node that gets it, our session there, and the handle that publishes in it. */
  to_node: string
  to_session: number
  publisher: number
  /** When its media first flowed; 0: it has not yet. */
  up_at: number
}

/** Our participant in a room of a node who looks who publishes there. */
export interface StoredRelayObserver {
  /** Name of the node. */
  node: string
  room_id: string
  /** Our session with the node, and its handle in it. */
  session: number
  handle: number
  joined_at: number
}

/** A meeting in progress. Apart from its room, because it may be lost. */
export interface StoredMeeting {
  /** When its first person came. */
  since: number
  /** When somebody was last known to be in it. */
  seen_at: number
}

/** Caller who deleted something: an operator, a client of an API, or the controller itself. */
export interface StoredDeleter {
  type: 'operator' | 'client' | 'system'
  /** Operator: account or kind of proof. Client: its access_key. */
  name: string
}

/** Fields of everything in the trash. */
interface TrashFields {
  id: string
  deleted_at: number
  /** Deleted for good then. */
  expires_at: number
  deleted_by: StoredDeleter
  /** Shared by everything that one call of an operator deleted; empty for clients. */
  batch: string
  /** Length of the stored records as JSON. */
  bytes: number
}

/** A deleted record; its secrets stay sealed for the place that they had. */
export type TrashedThing =
  | { kind: 'rooms'; record: StoredRoom; devices: readonly StoredDevice[] }
  | { kind: 'devices'; record: StoredDevice }
  | { kind: 'credentials'; record: StoredCredential }
  | { kind: 'nodes'; record: StoredNode }
  | { kind: 'wall_views'; record: StoredWallView }

/** Something in the trash. The outgoing users of a room are part of it. */
export type StoredTrash = TrashFields & TrashedThing

/** An event that is stored with its change, until the event log has it. */
export type StoredPendingEvent = Pick<EventEntry, 'at' | 'kind' | 'subject'> &
  Partial<Pick<EventEntry, 'level' | 'actor' | 'params' | 'before' | 'after' | 'room'>>
