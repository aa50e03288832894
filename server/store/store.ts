import type { Licence } from '../../shared/licence.ts'
import type { TestCameraSpec } from '../../shared/media/test-camera.ts'
import type { TestPeopleSpec } from '../../shared/media/test-people.ts'
import type {
  StoredAccessToken,
  StoredAccount,
  StoredAccountSession,
  StoredCameraBridge,
  StoredCredential,
  StoredDevice,
  StoredMeeting,
  StoredNode,
  StoredPendingEvent,
  StoredRelayBridge,
  StoredRelayObserver,
  StoredRoom,
  StoredRoomTemplate,
  StoredSession,
  StoredSettings,
  StoredTrash,
  StoredScenarioRun,
  StoredWallView,
  StoredUse,
} from './records.ts'
import type {
  StoredLive,
  StoredRecording,
  StoredRecordingKeep,
  StoredRecordingRemoval,
  StoredManualRecording,
} from './recording-records.ts'
import type { StoredCapability } from './capability-record.ts'
import type { SealedPlace } from './sealer.ts'
import type { Medium } from './storage.ts'
import type { AccessChange, BackupProof } from '../../shared/domain/backups.ts'

/** The collections of the site: the type and the key of their records. */
export interface Collections {
  /** One document under the key `site`. */
  settings: StoredSettings
  /** One document under the key `site`. */
  licence: Licence
  /** Keyed by access_key. */
  credentials: StoredCredential
  /** Keyed by name. */
  nodes: StoredNode
  /** Keyed by userId. */
  devices: StoredDevice
  /** Keyed by room_id. */
  rooms: StoredRoom
  /** Keyed by id. */
  wall_views: StoredWallView
  /** Keyed by id. */
  room_templates: StoredRoomTemplate
  /** Keyed by name. */
  test_cameras: TestCameraSpec
  /** Keyed by name. */
  test_people: TestPeopleSpec
  /** One document under the key `site`, while a scenario runs. */
  scenario_runs: StoredScenarioRun
  /** Keyed by the SHA-256 of the token, base64url. */
  sessions: StoredSession
  /** Keyed by id. */
  accounts: StoredAccount
  /** Keyed by the SHA-256 of the token, base64url. */
  access_tokens: StoredAccessToken
  /** Keyed by the SHA-256 of the cookie, base64url. */
  account_sessions: StoredAccountSession
  /** Keyed by the id of an account or capability, the key of an access token, or the name of an event log's mark. */
  last_uses: StoredUse
  /** Keyed by node, room and user, as a JSON array. */
  camera_loops: StoredCameraBridge
  /** Keyed by room, stream and target node, as a JSON array. */
  relay_loops: StoredRelayBridge
  /** Keyed by node and room, as a JSON array. */
  relay_observers: StoredRelayObserver
  meetings: StoredMeeting
  /** Keyed by room and user, as a JSON array. */
  recording_wishes: StoredManualRecording
  /** Keyed by id. */
  recording_keeps: StoredRecordingKeep
  /** Keyed by id, in order of creation. */
  recordings: StoredRecording
  /** Keyed by id, in order of creation. */
  lives: StoredLive
  /** Keyed by id, in the order of their changes. */
  pending_events: StoredPendingEvent
  /** Keyed by id of the recording. */
  recording_removals: StoredRecordingRemoval
  /** Keyed by the SHA-256 of the token, base64url. */
  capabilities: StoredCapability
  /** Keyed by id, in the order of deletion. */
  trash: StoredTrash
}

export type CollectionName = keyof Collections

/** Change of one record: the whole new value (idempotent when replayed), or undefined when the record is deleted. */
export type Change = {
  [C in CollectionName]: { collection: C; key: string; value: Collections[C] | undefined }
}[CollectionName]

/** Receives changes after they were applied to memory. @param before the previous value of each; undefined: none */
export type ChangeListener = (changes: readonly Change[], before: readonly Change['value'][]) => void

/** Operations of a transaction's plan. Nothing is visible before the transaction is durable. */
export interface Transaction {
  put<C extends CollectionName>(collection: C, key: string, value: Collections[C]): void
  delete(collection: CollectionName, key: string): void
}

/** A message to the operator about the storage: a recovery, damage that was set aside, a disk that rejects writes. */
export interface StoreNotice {
  level: 'info' | 'warning' | 'error'
  /** Milliseconds since the epoch. */
  at: number
  code:
    | 'recovered'
    | 'damaged'
    | 'tornTail'
    | 'migrated'
    | 'diskRefused'
    | 'diskBack'
    | 'restored'
    | 'folderClosed'
    | 'folderOpen'
  /** One plain English sentence. */
  message: string
  /** Name of the file concerned, without folder. */
  file?: string
  /** Whether confirmed changes are or may be lost. Such a notice is kept until the operator dismisses it. */
  lost?: boolean
  /** Time at which the first lost change was stored, in milliseconds since the epoch; left out: unknown. */
  since?: number
  /** Set if the notice is already in the event log, because it was found while another controller led. */
  logged?: true
}

export interface StoreStatus {
  medium: Medium
  /** false while the medium rejects writes or is unreachable. */
  healthy: boolean
  lastError: string | undefined
  /** Time of the first rejected write, in milliseconds since the epoch; 0: all writes are accepted. */
  refusesSince: number
  /** Number of changes waiting to be written. */
  backlog: number
  /** Milliseconds since the flush under way began; 0: none. */
  flushingFor: number
  /** Duration of the last flush, in milliseconds. */
  lastFlush: number
  /** Size of the journal segments that a start would replay, in bytes. */
  journalBytes: number
  /** Time at which the snapshot was last written, in milliseconds since the epoch. */
  snapshotAt: number
  notices: readonly StoreNotice[]
  /** Losses found at this or an earlier start, until the operator dismisses them. */
  losses: readonly StoreNotice[]
}

/** One backup: complete files of one instant. */
export interface StoreBackup {
  /** Date and time with the sequence number that orders backups, e.g. `2026-11-20T21-38-06-123Z-000007`. */
  name: string
  /** Time at which the backup was made, in milliseconds since the epoch, by the clock at that time. */
  at: number
  bytes: number
  /** Whether only the operator deletes the backup. */
  kept: boolean
  /** Whether the operator uploaded the backup: recovery never uses an uploaded backup. */
  uploaded: boolean
}

/** Contents of a backup, shown before a restore. */
export interface StoreBackupPreview {
  name: string
  at: number
  rooms: number
  credentials: number
  nodes: number
  devices: number
  accounts: number
  access_tokens: number
  wall_views: number
  /** Accounts and access tokens that a restore would add, remove or change; without expired tokens. */
  access: AccessChange[]
}

declare const confirmed: unique symbol

/**
 * State of the site for the confirmed leader, made only by `Leadership.confirmed`. Use it for one request or one step
 * of work, and do not keep it.
 */
export interface ConfirmedView extends Pick<Store, 'get' | 'all'> {
  readonly [confirmed]: true
}

/**
 * Whether this controller leads the site of its store. Every store has a leadership, which can be lost only on a site
 * with several controllers.
 *
 * **Proof and lease.** A proof shows that no other controller can have taken over. It is valid for a fraction of a
 * second, and `confirmed` requests a new one.
 * The lease is the coarser state, for background work. It ends if there was no proof for `ElectionTimes.lease`
 * milliseconds: the database is unreachable, and another controller does not answer or reaches the database. It ends at
 * once when another controller becomes leader, when this controller hands over, and when the store closes. The lease
 * returns with the next proof, unless another controller leads.
 *
 * - A request, a page or a message reads state through the view of `confirmed()`.
 * - Work that only the leader may do (recording, pushes, retention, uploads) runs while `isHeld`. Derive it from
 *   `isHeld` and the state, and derive it again in `onChange`.
 * - A step that cannot be undone (deleting a file, uploading an object) awaits `confirmed()` immediately before it, and
 *   passes `signal()` to long operations.
 */
export interface Leadership {
  /**
   * Returns the state at once while the last proof is valid: the cost is a comparison, without a promise. Otherwise
   * returns a promise that resolves with the next proof.
   * @throws FencedError (by rejection) when another controller leads; ApiError 'storage' when the leader is still
   * unknown at the deadline of a change
   */
  confirmed(): ConfirmedView | Promise<ConfirmedView>
  /** Whether the lease is valid. */
  readonly isHeld: boolean
  /** Calls the listener synchronously whenever the lease ends or returns. @returns the unsubscribe function */
  onChange(listener: (isHeld: boolean) => void): () => void
  /**
   * Returns a signal that aborts when the current lease ends; without a lease, the signal is already aborted. A
   * returning lease has a new signal, so call this at the start of each task.
   */
  signal(): AbortSignal
}

/**
 * State on disk. Reads are synchronous look-ups in memory. A mutation resolves when it is durable; only then it is
 * visible in memory ("disk first, then memory, then the answer"). If it fails, memory is unchanged.
 */
export interface Store {
  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined
  /**
   * Returns the map in memory. Never mutate the map or its values (put a new value instead). Iterates in order of
   * insertion.
   */
  all<C extends CollectionName>(collection: C): ReadonlyMap<string, Collections[C]>

  readonly leadership: Leadership

  /**
   * Makes one atomic, durable change. Waits until no transaction under way holds one of `locks` (free-form strings,
   * e.g. `rooms/123`; in order of arrival), then runs `plan` synchronously. The plan reads the store, throws an
   * ApiError to reject the change, or puts and deletes through its argument, and returns the result.
   * All puts and deletes of one plan become one journal line: after a crash all of them are present or none.
   * Transactions that arrive together share one fsync.
   * A plan that changes nothing resolves without touching the disk.
   * @throws ApiError 'storage' when the disk rejects the change or does not answer within the deadline (memory is
   * unchanged); any error of `plan`
   */
  transact<T>(locks: readonly string[], plan: (transaction: Transaction) => T): Promise<T>

  /**
   * Makes a change that a crash within the next second may lose: in memory at once, on disk within 1 s (coalesced by
   * key). Use it only for sessions, and for times of use and of meetings. If another controller may become leader, do
   * not use it for the start of a session or meeting.
   */
  writeBehind<C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): void

  /**
   * Returns a room number that was never assigned before. The number is durable with the transaction that uses it; gaps
   * are allowed, reuse is not.
   */
  nextRoomNumber(): number

  /**
   * Resolves when the store answers; rejects with ApiError 'storage' when it has not answered for `deadlineMs`. Returns
   * undefined (no promise) while nothing is delayed.
   */
  responsive(deadlineMs: number): Promise<void> | undefined

  /**
   * Registers a listener that is called after each durable (or writeBehind) change, synchronously, in order.
   * @param of calls the listener only for changes of these collections, with all changes stored together; undefined:
   * for all
   * @returns the unsubscribe function
   */
  onChange(listener: ChangeListener, of?: readonly CollectionName[]): () => void
  readonly notices: { listen(listener: (notice: StoreNotice) => void): () => void }
  status(): StoreStatus
  /** Registers a listener that is called with the duration of each flush, in milliseconds. */
  onFlush(listener: (milliseconds: number) => void): () => void

  /** Returns a key of the site for one purpose, 32 bytes; see Sealer. */
  keyFor(purpose: string): Buffer
  /** Encrypts a secret for its place. */
  seal(secret: string, place: SealedPlace): string
  /**
   * Opens a sealed text.
   * @throws ApiError 'internal' when the text was sealed with another key or for another place. On a site that has
   * resealed all secrets, also when the text has no place
   */
  unseal(sealed: string, place: SealedPlace): string
  /** Reseals a text of an earlier version for its place. @throws ApiError 'internal', like `unseal` */
  reseal(sealed: string, place: SealedPlace): string

  readonly backups: StoreBackups
  readonly restore: StoreRestore

  /** Removes the losses that the operator has seen. @throws ApiError 'storage' when the disk rejects the change */
  dismissLosses(): Promise<void>

  /** Writes all pending changes and releases the lock. Idempotent. */
  close(): Promise<void>
}

interface StoreBackups {
  /**
   * Returns the backups, the newest first. While the state changes, a backup is made about every hour; the settings
   * limit how many backups are kept.
   */
  list(): Promise<readonly StoreBackup[]>
  /**
   * Rewrites the snapshot, truncates the journal, and makes a backup.
   * @throws ApiError 'storage' when the disk rejects a write
   */
  make(kept?: boolean): Promise<StoreBackup>
  /**
   * Marks a backup as kept until it is deleted, or removes the mark.
   * @throws ApiError 'parameter' when no backup has this name, or too many are kept
   */
  keep(name: string, kept: boolean): Promise<void>
  /** Deletes a backup. @throws ApiError 'parameter' when no backup has this name */
  delete(name: string): Promise<void>
  /**
   * Appends a part to an uploaded archive.
   * @throws ApiError 'parameter' when the part does not follow the previous part
   */
  takeUpload(upload: string, offset: number, part: Buffer): Promise<void>
  /**
   * Adds an uploaded archive to the backups.
   * @throws ApiError 'parameter' when the archive is not a backup of this site
   */
  addUpload(upload: string): Promise<StoreBackup>
  /**
   * Returns a part of a backup as a tar archive, and the size of the whole archive.
   * @throws ApiError 'parameter' when no backup has this name
   */
  read(name: string, offset: number, length: number): Promise<{ bytes: Buffer; total: number }>
  /**
   * Checks that this site made a backup, and that the backup is unchanged.
   * @param contents true: reads every file; false: checks names and sizes only
   * @throws ApiError 'parameter' when no backup has this name
   */
  proof(name: string, contents: boolean): Promise<BackupProof>
}

interface StoreRestore {
  /**
   * Counts the records in a backup, and determines how a restore would change accounts and tokens.
   * @throws ApiError 'parameter' when no backup has this name, 'storage' when the backup cannot be read
   */
  preview(name: string): Promise<StoreBackupPreview>
  /**
   * Restores the site and its rooms from a backup, as one durable change; listeners are notified as usual.
   * The current state is backed up first. A session continues if its credential is unchanged; room numbers are never
   * reused.
   * @throws ApiError 'parameter' when no backup has this name, 'storage' when the backup cannot be read or the disk
   * rejects the change (nothing was changed)
   */
  run(name: string): Promise<void>
}
