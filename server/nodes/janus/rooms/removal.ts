import type { RemovalsPort } from '../../port/removals-port.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { ExpelSessions } from './expel-sessions.ts'
import type { JanusParticipants } from './participants.ts'
import type { JanusRooms } from './janus-rooms.ts'

/** Needs of removals. */
export interface JanusRemovalOptions {
  rooms: JanusRooms
  admission: TokenAdmission
  participants: JanusParticipants
  /** Ends the sessions of a removed user that are still open on the node. */
  expel: ExpelSessions
  removals: Pick<RemovalsPort, 'remove'>
  /** Whether the participant of this id has proven it. */
  isProven: (roomId: string, userId: string) => boolean
}

/** Takes people out of the rooms of one node, with all that they have open there. */
export class JanusRemoval {
  readonly #options: JanusRemovalOptions
  /** Users with proven ids whom the controller removes at this moment, by room and user. */
  readonly #kicking = new Set<string>()

  constructor(options: JanusRemovalOptions) {
    this.#options = options
  }

  /** Whether the controller is removing a user with a proven id. */
  isUnderWay(roomId: string, userId: string): boolean {
    return this.#kicking.has(keyOf(roomId, userId))
  }

  /** Takes a person out by the controller's wish. Resolves to false when no such person is in the room. @throws as AdminApi.ask */
  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { participants, removals, isProven } = this.#options
    if (participants.user(roomId, userId) === undefined) {
      await participants.read(roomId, signal)
      if (participants.user(roomId, userId) === undefined) return false
    }
    const key = keyOf(roomId, userId)
    const proven = isProven(roomId, userId)
    if (proven) this.#kicking.add(key)
    try {
      // First of all: whatever ends in the middle of it, they are not let back in.
      await unlessAborted(removals.remove({ roomId, userId, proven }), signal)
      return await this.remove(roomId, userId, signal)
    } finally {
      this.#kicking.delete(key)
    }
  }

  /** Puts somebody out. Resolves to false when they were not in the room. @throws as AdminApi.ask */
  async remove(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    // From here on they can open nothing more.
    await this.#options.admission.takeBack(roomId, userId, signal)
    return await this.displace(roomId, userId, signal)
  }

  /** Ends a participant session and its open media here; the user may come back. Resolves to false when they were not in the room. @throws as AdminApi.ask */
  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { rooms, participants, expel } = this.#options
    // The participant session's end also ends the list of its handles.
    const key = participants.keyOf(roomId, userId)
    const open = await expel.find({ room: rooms.nameOf(roomId), userId, key }, signal)
    const wasThere = await rooms.kick(roomId, userId, signal)
    await expel.end(open, signal)
    participants.left(roomId, userId)
    return wasThere
  }
}

function keyOf(roomId: string, userId: string): string {
  return JSON.stringify([roomId, userId])
}
