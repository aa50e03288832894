import type { Removal } from '../../../shared/media/control.ts'

/** A participant of a room, with the facts needed for removals. */
export interface Participant {
  roomId: string
  userId: string
  /**
   * Whether the id was verified, by the room page or a token. On a node without tokens, an unverified id may be chosen
   * by anyone.
   */
  proven: boolean
}

/** Store of removed participants by room, as used by the nodes. */
export interface RemovalsPort {
  /** Returns all stored removals, the oldest first. */
  list(): Removal[]
  /**
   * Stores a removal and notifies the listeners except `by`. Resolves when the write has succeeded or failed. Never
   * rejects.
   */
  note(removal: Removal, by?: object): Promise<void>
  /** Removes a participant for the configured time. Resolves when the write has succeeded or failed. Never rejects. */
  remove(participant: Participant): Promise<void>
  /** Returns whether a participant is refused now. O(1). */
  refuses(participant: Participant): boolean
  /** Notifies the listener of each further removal, with its origin. */
  onRemoval(listener: (removal: Removal, by: object | undefined) => void): void
}
