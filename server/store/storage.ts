/** Storage medium, named in refusals and notices. */
export type Medium = 'disk' | 'database'

/** The storage cannot be reached: nothing was stored, and the same change can be tried again when it is back. */
export class StorageAwayError extends Error {
  override readonly name = 'StorageAwayError'
}

/** A storage that cannot be reached now. */
export interface Away {
  /** Why. */
  error: Error
  /** Resolves when it was reached again. */
  back: Promise<void>
}

/** Durable storage of the state, as journal lines and snapshots: files of this machine, or a database. Each kind of storage reads in its own way, when it is opened. */
export interface Storage {
  readonly medium: Medium

  /**
   * Stores journal lines (`encodeChanges`): durable when it resolves, all of them, in this order. With none it only proves that it would store some. Calls do not overlap.
   * When it rejects none of them counts, now or later. An outcome that is not known yet is waited for, until `abandon`.
   * @throws StorageAwayError when it cannot be reached; OutcomeUnknownError when they may be stored all the same; anything else: it refuses these lines.
   */
  append(lines: readonly string[]): Promise<void>

  /** Reason why it cannot be reached; undefined: it can, as far as is known. */
  away(): Away | undefined
  /** @param listener called when it cannot be reached any more: also while nobody stores anything. */
  onAway(listener: () => void): void

  /**
   * Begins a snapshot while no `append` is under way: memory holds exactly what was stored up to now.
   * @returns what writes it, beside further calls of `append`; lines that no start needs any longer go.
   */
  beginSnapshot(): Promise<() => Promise<void>>
  /** Puts the documents of the last snapshot, or of a later state, into a new backup. @param folder is empty. */
  writeDocuments(folder: string): Promise<void>

  /** Bytes of the lines that a start would replay. */
  readonly journalBytes: number
  /** Bytes of the newest snapshot. */
  readonly snapshotBytes: number
  /** When the newest snapshot was begun, milliseconds since the epoch. */
  readonly snapshotAt: number

  /** It is not waited for any longer: what is under way and cannot be settled now rejects. */
  abandon(): void
  /** Nothing is stored any more. Waits for what is under way. */
  close(): Promise<void>
}
