import type { Licence } from '../../shared/licence.ts'
import type {
  StoredAccessToken,
  StoredAccount,
  StoredAccountSession,
  StoredCameraBridge,
  StoredCredential,
  StoredDevice,
  StoredLive,
  StoredMeeting,
  StoredNode,
  StoredPendingEvent,
  StoredRecording,
  StoredRecordingKeep,
  StoredRecordingRemoval,
  StoredRecordingWish,
  StoredRelayBridge,
  StoredRelayObserver,
  StoredRoom,
  StoredRoomTemplate,
  StoredSession,
  StoredSettings,
  StoredTrash,
  StoredWallView,
  StoredUse,
} from './records.ts'
import type { StoredCapability } from './capability-record.ts'
import type { SealedPlace } from './sealer.ts'
import type { Medium } from './storage.ts'
import type { AccessChange, BackupProof } from '../../shared/domain/backups.ts'

/** The collections of the site: which record each holds, under which key. */
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
  /** Keyed by the SHA-256 of the token, base64url. */
  sessions: StoredSession
  /** Keyed by id. */
  accounts: StoredAccount
  /** Keyed by the SHA-256 of the token, base64url. */
  access_tokens: StoredAccessToken
  /** Keyed by the SHA-256 of the cookie, base64url. */
  account_sessions: StoredAccountSession
  /** Keyed by id of an account or key of an access token. */
  last_uses: StoredUse
  /** Keyed by node, room and user, as JSON. */
  camera_loops: StoredCameraBridge
  /** Keyed by room, stream and the node that gets it, as JSON. */
  relay_loops: StoredRelayBridge
  /** Keyed by node and room, as JSON. */
  relay_observers: StoredRelayObserver
  meetings: StoredMeeting
  /** Keyed by room and user, as JSON. */
  recording_wishes: StoredRecordingWish
  /** Keyed by id. */
  recording_keeps: StoredRecordingKeep
  /** Keyed by id, in the order of their beginning. */
  recordings: StoredRecording
  /** Keyed by id, in the order of their beginning. */
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

/** One record's change: the whole new value (idempotent when replayed), or undefined when it goes. */
export type Change = {
  [C in CollectionName]: { collection: C; key: string; value: Collections[C] | undefined }
}[CollectionName]

/** Receives changes that are in memory. @param before the value that each of them replaced; undefined: there was none */
export type ChangeListener = (changes: readonly Change[], before: readonly Change['value'][]) => void

/** Operations of a transaction's plan. Nothing is visible before the transaction is durable. */
export interface Transaction {
  put<C extends CollectionName>(collection: C, key: string, value: Collections[C]): void
  delete(collection: CollectionName, key: string): void
}

/** Something the operator must know about the files: a recovery, damage that was set aside, a disk that refuses. */
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
  /** The file it speaks of, without folder. */
  file?: string
  /** Changes that had been confirmed are not there any more, or cannot be shown to be: kept until the operator dismisses it. */
  lost?: boolean
  /** When the first of them was stored, in milliseconds since the epoch, if that is known. */
  since?: number
  /** It is in the event log already: it was found while another controller led. */
  logged?: true
}

/** The state of the storage, for the console and metrics. */
export interface StoreStatus {
  medium: Medium
  /** false while the medium refuses writes, or cannot be reached. */
  healthy: boolean
  lastError: string | undefined
  /** Since when the disk refuses writes, milliseconds since the epoch; 0 while it takes them. */
  refusesSince: number
  /** Records waiting for the disk now. */
  backlog: number
  /** Milliseconds since the flush under way began; 0 when none is. */
  flushingFor: number
  /** Milliseconds the last flush took. */
  lastFlush: number
  /** Bytes in the journal segments that a start would replay. */
  journalBytes: number
  /** When each lowdb file was last rewritten, milliseconds since the epoch. */
  snapshotAt: number
  notices: readonly StoreNotice[]
  /** Losses at this start or an earlier one, until the operator dismisses them. */
  losses: readonly StoreNotice[]
}

/** One backup in the data folder: whole files as they were at one instant. */
export interface StoreBackup {
  /** Date and time with the sequence number that orders backups, e.g. `2026-11-20T21-38-06-123Z-000007`. */
  name: string
  /** When it was made by the clock of then, milliseconds since the epoch. */
  at: number
  bytes: number
  /** It stays until the operator deletes it. */
  kept: boolean
  /** Uploaded from another place: no recovery uses it. */
  uploaded: boolean
}

/** Contents of a backup, shown before it is restored. */
export interface StoreBackupPreview {
  name: string
  /** When it was made, as in StoreBackup. */
  at: number
  rooms: number
  credentials: number
  nodes: number
  devices: number
  accounts: number
  access_tokens: number
  wall_views: number
  /** Accounts and access tokens that a restore brings back, takes away or changes; those that have ended are left out. */
  access: AccessChange[]
}

declare const confirmed: unique symbol

/** State of the site as the confirmed leader sees it. Made only by `Leadership.confirmed`, for one request or one step of work: it is not kept. */
export interface ConfirmedView extends Pick<Store, 'get' | 'all'> {
  readonly [confirmed]: true
}

/**
 * Whether this controller leads the site of its store. Every store has one; only that of a site with several controllers can be lost.
 *
 * **Proof and lease.** A proof says that no other controller can have taken over; it counts for a fraction of a second, and `confirmed` asks for it. The lease is the coarser state
 * for work that runs on its own: it ends when no proof came for `ElectionTimes.lease` milliseconds (the database cannot be reached, and another controller does not answer or
 * reaches it), and at once when another controller leads, when this one hands over, and when the store closes. It comes back with the next proof, unless another controller leads.
 *
 * - A request, a page or a message reads state through the view of `confirmed()`.
 * - Work that only the leader may do (recording, pushes, retention, uploads) runs while `isHeld`. Derive it from `isHeld` and the state, and derive it again in `onChange`.
 * - A step that cannot be undone (a file is deleted, an object is uploaded) awaits `confirmed()` immediately before it, and passes `signal()` to what takes long.
 */
export interface Leadership {
  /**
   * Returns the state at once while the last proof counts: the cost is a comparison, without a promise. Otherwise returns a promise that resolves when there is a proof.
   * @throws FencedError (by rejection) when another controller leads; ApiError 'storage' when neither is known by the deadline of a change
   */
  confirmed(): ConfirmedView | Promise<ConfirmedView>
  /** Whether the lease lasts. */
  readonly isHeld: boolean
  /** Calls the listener synchronously whenever the lease ends or comes back. @returns the unsubscribe function */
  onChange(listener: (isHeld: boolean) => void): () => void
  /** Aborts when the present lease ends; it is aborted already while there is none. After a return of the lease there is another one: ask for it at the start of each task. */
  signal(): AbortSignal
}

/**
 * State on disk. Reads are synchronous look-ups in memory; a mutation resolves when it is durable, and only then is it in memory
 * ("disk first, then memory, then the answer"). If it fails, memory is as before.
 */
export interface Store {
  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined
  /** The live map: never mutate it, never mutate its values (put a new value instead). Iterates in order of insertion. */
  all<C extends CollectionName>(collection: C): ReadonlyMap<string, Collections[C]>

  /** Whether this controller leads the site. */
  readonly leadership: Leadership

  /**
   * One atomic, durable change. Waits until no transaction under way holds one of `locks` (free-form strings, e.g. `rooms/123`; in order of arrival), then runs
   * `plan` synchronously: it reads the store, throws an ApiError to refuse, or puts and deletes through its argument, and returns the result.
   * All puts and deletes of one plan become one journal line: after a crash all of them are there or none. Transactions that arrive together share one fsync.
   * A plan that changes nothing resolves without touching the disk.
   * @throws ApiError 'storage' when the disk refuses or does not answer within the deadline (memory as before); whatever `plan` throws.
   */
  transact<T>(locks: readonly string[], plan: (transaction: Transaction) => T): Promise<T>

  /**
   * A change that may be lost in a crash within the next second: in memory at once, on disk within 1 s (coalesced by key). For what sessions do and for the times of meetings only; where another controller may lead a moment later, not for their beginning.
   */
  writeBehind<C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): void

  /** A room number never given before, durable with the transaction that uses it (gaps are allowed, reuse is not). */
  nextRoomNumber(): number

  /** Resolves when the store answers; rejects with ApiError 'storage' when it has been stuck for `deadlineMs`. Returns undefined at once (no promise) when nothing is stuck. */
  responsive(deadlineMs: number): Promise<void> | undefined

  /**
   * Called after each durable (or writeBehind) change, synchronously, in order.
   * @param of called for changes of one of these collections only, with all that were stored together; undefined: for all
   * @returns the unsubscribe function
   */
  onChange(listener: ChangeListener, of?: readonly CollectionName[]): () => void
  onNotice(listener: (notice: StoreNotice) => void): () => void
  status(): StoreStatus
  /** Called with the milliseconds of each flush. */
  onFlush(listener: (milliseconds: number) => void): () => void

  /** Encrypts a secret for its place. */
  seal(secret: string, place: SealedPlace): string
  /** Opens a sealed text. @throws ApiError 'internal' when it was sealed with another key or for another place, or without a place on a site that has resealed everything */
  unseal(sealed: string, place: SealedPlace): string
  /** Seals a text of an earlier version for its place. @throws ApiError 'internal' as `unseal` does */
  reseal(sealed: string, place: SealedPlace): string

  /** Lab: holds every flush back until called again with false, as a dead disk does. */
  stall(stalled: boolean): void

  /** Rewrites lowdb's files now and cuts the journal; also makes a backup. */
  snapshot(): Promise<void>
  /** The backups there are, the newest first. One is made about every hour while things change; of these as many stay as the settings say. */
  backups(): Promise<readonly StoreBackup[]>
  /** Rewrites the files and copies them: what is durable now. @throws ApiError 'storage' when the disk refuses. */
  makeBackup(kept?: boolean): Promise<StoreBackup>
  /** Keeps a backup until it is deleted, or no longer. @throws ApiError 'parameter' when there is none of this name, or too many are kept. */
  keepBackup(name: string, kept: boolean): Promise<void>
  /** @throws ApiError 'parameter' when there is no backup of this name. */
  deleteBackup(name: string): Promise<void>
  /** Takes a part of an archive that is uploaded. @throws ApiError 'parameter' when it does not follow the one before. */
  takeUpload(upload: string, offset: number, part: Buffer): Promise<void>
  /** Puts an archive that was uploaded among the backups. @throws ApiError 'parameter' when it is no backup of this site. */
  addUpload(upload: string): Promise<StoreBackup>
  /** A part of a backup as a tar archive, and how long that is in whole. @throws ApiError 'parameter' when there is no backup of this name. */
  readBackup(name: string, offset: number, length: number): Promise<{ bytes: Buffer; total: number }>
  /**
   * Says whether this site made a backup, as it is. @param contents true: every file of it is read; false: names and sizes only
   * @throws ApiError 'parameter' when there is no backup of this name
   */
  proofOfBackup(name: string, contents: boolean): Promise<BackupProof>
  /** Counts of what a backup holds. @throws ApiError 'parameter' when there is no such backup, 'storage' when it cannot be read. */
  previewBackup(name: string): Promise<StoreBackupPreview>
  /**
   * Restores the site and its rooms from a backup, as one durable change that listeners receive like any other.
   * The present state is backed up first. Sessions live on where their credential is the same before and after; room numbers are still never reused.
   * @throws ApiError 'parameter' when there is no such backup, 'storage' when it cannot be read or the disk refuses (nothing was changed).
   */
  restoreBackup(name: string): Promise<void>

  /** The operator has seen what was lost. @throws ApiError 'storage' when the disk refuses. */
  dismissLosses(): Promise<void>

  /** Writes everything out, releases the lock. Idempotent. */
  close(): Promise<void>
}
