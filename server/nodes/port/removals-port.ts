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
  /** Remembers a removal and tells the listeners but `by`; resolves when it is on disk, or cannot be. Never rejects. */
  note(removal: Removal, by?: object): Promise<void>
  /** Removes a participant for the time of the setting; resolves when that is on disk, or cannot be. Never rejects. */
  remove(participant: Participant): Promise<void>
  /** Whether a participant may not come in now. O(1). */
  refuses(participant: Participant): boolean
  /** Told of each further removal, and who noted it. */
  onRemoval(listener: (removal: Removal, by: object | undefined) => void): void
}
