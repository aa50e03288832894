import type { Removal } from '../../../shared/media/control.ts'

/** A participant of a room, as far as removals are concerned. */
export interface Participant {
  roomId: string
  userId: string
  /** The id was proven, by the room page or a token. Otherwise anybody may have called themselves so, on a node that asks for no tokens. */
  proven: boolean
}

/** The site's memory of who was removed from which room, as the nodes use it. */
export interface RemovalsPort {
  /** Every removal that is remembered, the oldest first. */
  list(): Removal[]
  /** Stores a removal and notifies the listeners except `by`. Resolves when it is on disk, or cannot be. Never rejects. */
  note(removal: Removal, by?: object): Promise<void>
  /** Removes a participant for the time of the setting; resolves when that is on disk, or cannot be. Never rejects. */
  remove(participant: Participant): Promise<void>
  /** Whether a participant may not come in now. O(1). */
  refuses(participant: Participant): boolean
  /** Notifies the listener of each further removal, with its origin. */
  onRemoval(listener: (removal: Removal, by: object | undefined) => void): void
}
