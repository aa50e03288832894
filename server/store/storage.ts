import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'

/** Storage medium, named in error texts and notices. */
export type Medium = 'disk' | 'database'

/**
 * Thrown when the storage is unreachable: nothing was stored, and the same change can be retried when the storage is
 * back.
 */
export class StorageAwayError extends Error {
  override readonly name = 'StorageAwayError'
}

export interface Away {
  error: Error
  /** Resolves when the storage is reachable again. */
  back: Promise<void>
}

/**
 * Durable storage of the state as journal lines and snapshots: files of this machine, or a database. At start, each
 * kind of storage has its own functions to read the state.
 */
export interface Storage {
  readonly medium: Medium

  /**
   * Stores journal lines (`encodeChanges`). When the promise resolves, all lines are durable, in this order. Without
   * lines the call only tests whether the storage accepts writes. Calls do not overlap.
   * If the promise rejects, none of the lines is stored, now or later. The promise stays pending while the outcome is
   * unknown, until `abandon`.
   * @throws StorageAwayError when the storage is unreachable; OutcomeUnknownError when the lines may be stored
   * nevertheless; any other error: the lines are rejected
   */
  append(lines: readonly string[]): Promise<void>

  /** Returns the current outage; undefined: the storage is reachable as far as is known. */
  away(): Away | undefined
  /** @param listener called when the storage becomes unreachable, even if nothing is being stored */
  onAway(listener: () => void): void

  /**
   * Starts a snapshot while no `append` is under way: memory holds exactly the stored state.
   * @returns a function that writes the snapshot while `append` may be called again, and deletes lines that no start
   * needs any longer
   */
  beginSnapshot(): Promise<() => Promise<void>>
  /**
   * Writes the documents of the last snapshot, or of a later state, into a new backup.
   * @param folder an empty folder
   */
  writeDocuments(folder: string): Promise<void>

  /** Size of the lines that a start would replay, in bytes. */
  readonly journalBytes: number
  /** Size of the newest snapshot, in bytes. */
  readonly snapshotBytes: number
  /** Time at which the newest snapshot was started, in milliseconds since the epoch. */
  readonly snapshotAt: number

  /** Stops waiting for the storage: calls whose outcome is still unknown reject. */
  abandon(): void
  /** Waits for calls under way; nothing is stored afterwards. */
  close(): Promise<void>
}

/** State of the gate while flushes are blocked. */
export interface ClosedGate {
  /** Start of the blocking, by `monotonic()`. */
  readonly since: number
  /** Resolves when flushes may start again. */
  readonly opened: Promise<void>
}

/** Gate that each flush passes before it starts. */
export interface FlushGate {
  /** State while flushes are blocked; undefined: flushes may start. */
  readonly closed: ClosedGate | undefined
}

/**
 * Thrown when the storage cannot determine whether lines were stored. Such lines must not be reported as not stored.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
}

/** Returns the message of an error. */
export function storageReasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the error for a change that is definitely not stored, now or later. */
export function notStored(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('storage'), reason, cause })
}

/** Returns the error for a change that the storage received but did not confirm: it may be stored now or later. */
export function outcomeUnknown(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('outcomeUnknown'), reason, cause })
}

/**
 * Returns the error for lines that the storage rejected. By contract none of them is stored, except after an
 * OutcomeUnknownError.
 */
export function refusedError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const reason = storageReasonOf(error)
  return error instanceof OutcomeUnknownError ? outcomeUnknown(reason, error) : notStored(reason, error)
}

/** Returns the error for any other failure of the disk or the database: how much was done is unknown. */
export function storageError(error: unknown): ApiError {
  return error instanceof ApiError ? error : outcomeUnknown(storageReasonOf(error), error)
}

/** Whether a change may have been stored, or may be stored later. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.refusal?.name === 'outcomeUnknown'
}
