/** The stored records. Secrets are sealed texts (`*_sealed`): only `Store.unseal` opens them. */

import type { EventEntry } from '../../shared/domain/events.ts'
import type { WordedText } from '../../shared/domain/worded-text.ts'
import type { Role } from '../../shared/domain/roles.ts'
import type { Licence } from '../../shared/licence.ts'
import type { TokenScope } from '../../shared/domain/token-scopes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { DigestForm } from '../../shared/settings/network.ts'
import type { NodeConfig } from '../../shared/node.ts'
import type { WallArrangement, WallItem } from '../../shared/domain/wall-layout.ts'
import type { EntryByNumber } from '../../shared/room-entry.ts'
import type { ScheduleMark } from '../schedule/room-hours.ts'
import type { RecordingRule } from '../../shared/recordings/recording-rule.ts'
import type { RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import type { TemplateSettings } from '../../shared/domain/room-templates.ts'

/** A run of a scenario of the lab, with what it must take back. */
export interface StoredScenarioRun {
  name: string
  title: WordedText
  description: WordedText
  started_at: number
  /** Keys of records that it created, and that its end removes. */
  credentials: string[]
  nodes: string[]
  cameras: string[]
  people: string[]
  rooms: string[]
  devices: string[]
  /** Nodes of the site whose faults it sets. */
  troubled_nodes: string[]
  /** Former values of the settings that it changes, by part. */
  settings: Record<string, unknown>
  /** Former licence and fault rules; null: it does not change them. */
  licence: Licence | null
  faults: object[] | null
  /** Whether it blocks writes to the disk. */
  disk: boolean
}

/** A key pair with which a client authenticates. */
export interface StoredCredential {
  access_key: string
  secret_key_sealed: string
  label: string
  enabled: boolean
  /** Whether the client may create rooms of room_mode 3 and 4. */
  p2p: boolean
  /** Milliseconds since the epoch, like every `_at`. */
  created_at: number
  rotated_at: number
  /** Incremented when all links, live streams and recordings of this credential are ended; left out: never. */
  generation?: number
}

/** The settings, with sealed credentials of TURN servers. */
export interface StoredSettings extends Omit<Settings, 'media' | 'object_storage'> {
  /** Set when every secret of the site is sealed for its place: from then on, a secret without a place is rejected. */
  sealed_for_places?: true
  /** Set when every secret is also sealed for the addresses to which it is sent. */
  sealed_for_addresses?: true
  media: Omit<Settings['media'], 'ice_servers'> & { ice_servers: readonly StoredIceServer[] }
  /** Left out: stored by an earlier version. */
  object_storage?: StoredObjectStorage
}

/** Object storage of recordings. */
interface StoredObjectStorage extends Omit<Settings['object_storage'], 'secret_access_key' | 'networks'> {
  /** Left out: stored by an earlier version. */
  networks?: readonly string[]
  /** Empty: no secret. */
  secret_sealed: string
}

export interface StoredIceServer extends Omit<Settings['media']['ice_servers'][number], 'credential'> {
  /** Empty: no credential. */
  credential_sealed: string
}

/** A session that an authentication opened. The token is not stored: the key is its SHA-256. */
export interface StoredSession {
  access_key: string
  form: DigestForm
  created_at: number
  used_at: number
}

/** An MCU node. Its secrets are sealed together as JSON in `secrets_sealed`. */
export interface StoredNode extends NodeConfig {
  created_at: number
  draining: boolean
  /** Time at which draining began, and the number of rooms at that time; left out while the node is not draining. */
  drain?: { since: number; rooms: number }
  secrets_sealed: string
}

/** A room (specification, section 2.1) and the controller's additional fields. */
export interface StoredRoom {
  /** Number of the room; never reused. */
  id: number
  room_id: string
  topic: string
  owner_id: string
  /** Empty when the room has no host password. */
  host_password_sealed: string
  attendee_max: number
  max_audio: number
  max_video: number
  /** Empty: not specified by the caller. */
  room_extend_id: string
  room_mode: 1 | 2 | 3 | 4
  /** Set by the operator. The scheduled and open states follow from the users in the room. */
  locked: boolean
  closed: boolean
  /** Whether the room number is enough to join; left out: as in the site's settings. */
  entry_by_number?: EntryByNumber
  /** Whether a host admits participants; left out: no waiting room. */
  waiting_room?: boolean
  /** Times when the room is open; left out: always. */
  schedule?: RoomSchedule
  /** Last change that the room's schedule made; left out: none. */
  schedule_mark?: ScheduleMark
  /** Left out: none. */
  tags?: readonly string[]
  /** Name of the node that serves the room; empty when it was never assigned. */
  node: string
  /**
   * Names of secondary nodes that serve some participants of the room, the oldest first; left out: none. Only set if
   * `node` is set; never includes `node`.
   */
  branches?: readonly string[]
  /** access_key that created the room; empty: the operator. */
  created_by: string
  created_at: number
  /** Rule for recording the room; left out: the rule in the site's settings. */
  recording?: RecordingRule
  /** Users who were recently removed, and whose earlier links are void; left out: none. */
  removals?: readonly StoredRemoval[]
}

export interface StoredRemoval {
  user_id: string
  /** Id of the join link that was used; empty for none. */
  token_id: string
  at: number
  /** Time until which the user is rejected, with any link, in milliseconds since the epoch. */
  until: number
}

/** An external device that should be in a room (an "outgoing user" in the specification, section 2.3). */
export interface StoredDevice {
  roomId: string
  userId: string
  userName: string
  /** Address without login name and password. */
  userAddress: string
  userData: string
  /** Options as given by the caller, without login_password. */
  options: Record<string, unknown>
  /** Empty: no password. */
  login_password_sealed: string
  /** Left out: none. */
  tags?: readonly string[]
  /** Whether the operator paused the device: the record stays, but the device is not joined. */
  paused: boolean
  /** Rule for recording the device; left out: the rule in the site's settings. */
  recording?: RecordingRule
  created_at: number
}

/** Settings from which rooms are created. */
export interface StoredRoomTemplate {
  id: string
  name: string
  settings: TemplateSettings
  changed_at: number
}

/** A saved view of the video wall. */
export interface StoredWallView {
  id: string
  name: string
  items: WallItem[]
  /** Left out: equal tiles on one page. */
  arrangement?: WallArrangement | undefined
  /** Incremented with each change. */
  revision: number
  changed_at: number
}

/** A console user. */
export interface StoredAccount {
  id: string
  name: string
  role: Role
  enabled: boolean
  /** A scrypt hash from `hashPassword`. */
  password_sealed: string
  /** Random text, which changes with each new password, new role and disabling. A change ends all earlier sessions. */
  stamp: string
  created_at: number
  password_changed_at: number
}

/** A browser that is signed in with an account. Its cookie is not stored: the key is its SHA-256. */
export interface StoredAccountSession {
  account: string
  /** Stamp of the account at sign-in. */
  stamp: string
  address: string
  browser: string
  created_at: number
  used_at: number
  /** Time at which the password was last confirmed; left out: not since sign-in. */
  password_at?: number
  /** Digest of the page's half of the session secret; left out: a session of an earlier version, which is void. */
  page?: string
}

/** A personal access token. The token is not stored: the key is its SHA-256. */
export interface StoredAccessToken {
  /** Id of the token's account. */
  account: string
  label: string
  /** Maximum role of the token; left out: only the account's role limits the token. */
  role?: Role
  /** Left out in records of versions without scopes: `role` determines the scopes. */
  scopes?: readonly TokenScope[]
  created_at: number
  expires_at: number
}

/**
 * Time of an account's last sign-in, or of the last use of a token or capability; also the high-water mark of an event
 * log. Stored separately, because its loss is harmless.
 */
export interface StoredUse {
  at: number
  /** High-water mark: sequence number of an event log entry that was on disk at that time. */
  seq?: number
}

/**
 * A camera in a room of a node, whose stream continues without the controller. Contains the ids needed to resume
 * control.
 */
export interface StoredCameraBridge {
  node: string
  room_id: string
  user_id: string
  user_name: string
  /** Our session with the node, and the session's handles for the room and for the camera. */
  session: number
  publisher: number
  subscriber: number
  /** A third handle of the session, for requests that do not concern a single camera. */
  control: number
  /** Id of the mountpoint on the node that pulls the camera's stream. */
  mountpoint: string
  /** Time at which the camera's media first flowed, in milliseconds since the epoch; 0: not yet. */
  joined_at: number
}

/**
 * A stream that one node relays to another node and that continues without the controller. Contains the ids needed to
 * resume control.
 */
export interface StoredRelayBridge {
  room_id: string
  /** Id of the participant that publishes the stream. */
  stream: string
  /** Form of the stream and the shown name: if either changes, the stream is relayed again. */
  form: string
  display: string
  /** Name of the source node, our session there, and its subscribing handle. */
  from_node: string
  from_session: number
  subscriber: number
  /** Name of the target node, our session there, and its publishing handle. */
  to_node: string
  to_session: number
  publisher: number
  /** Time at which the stream's media first flowed, in milliseconds since the epoch; 0: not yet. */
  up_at: number
}

/** The controller's participant in a room of a node, which observes the publishers of the room. */
export interface StoredRelayObserver {
  node: string
  room_id: string
  /** Our session with the node, and the session's handle. */
  session: number
  handle: number
  joined_at: number
}

/** A meeting in progress. Stored separately from its room, because its loss is harmless. */
export interface StoredMeeting {
  /** Time at which the first person joined, in milliseconds since the epoch. */
  since: number
  /** Time at which a person was last in the meeting, in milliseconds since the epoch. */
  seen_at: number
}

/** Author of a deletion: an operator, an API client, or the controller itself. */
export interface StoredDeleter {
  type: 'operator' | 'client' | 'system'
  /** Operator: account, or kind of sign-in without an account. Client: access_key. */
  name: string
}

interface TrashFields {
  id: string
  deleted_at: number
  /** Time of the final deletion. */
  expires_at: number
  deleted_by: StoredDeleter
  /** Id of an operator's call, shared by all records that the call deleted; empty for clients. */
  batch: string
  /** Length of the stored records as JSON, in bytes. */
  bytes: number
}

/** A deleted record. Its secrets stay sealed for their original place. */
export type TrashedThing =
  | { kind: 'rooms'; record: StoredRoom; devices: readonly StoredDevice[] }
  | { kind: 'devices'; record: StoredDevice }
  | { kind: 'credentials'; record: StoredCredential }
  | { kind: 'nodes'; record: StoredNode }
  | { kind: 'wall_views'; record: StoredWallView }

/** An entry in the trash. The entry of a room includes the devices of the room. */
export type StoredTrash = TrashFields & TrashedThing

/** An event that is stored with its change until it is in the event log. */
export type StoredPendingEvent = Pick<EventEntry, 'at' | 'kind' | 'subject'> &
  Partial<Pick<EventEntry, 'level' | 'actor' | 'params' | 'before' | 'after' | 'room'>>
