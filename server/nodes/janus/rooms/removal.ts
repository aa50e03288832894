import type { RemovalsPort } from '../../port/removals-port.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { ExpelSessions } from './expel-sessions.ts'
import type { JanusParticipants } from './participants.ts'
import type { JanusRooms } from './janus-rooms.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { Visitors } from './room-admission.ts'

export interface JanusRemovalOptions {
  rooms: JanusRooms
  admission: TokenAdmission
  participants: JanusParticipants
  /** Ends the sessions of a removed user that are still open on the node. */
  expel: ExpelSessions
  removals: Pick<RemovalsPort, 'remove'>
  traits: Pick<NodeTraits, 'current'>
  visitors: Pick<Visitors, 'isHere'>
}

/** Removes people from the rooms of one node, with all of their sessions in the room. */
export class JanusRemoval {
  readonly #options: JanusRemovalOptions
  /** Users with a verified id who are being removed, by room and user. */
  readonly #kicking = new Set<string>()

  constructor(options: JanusRemovalOptions) {
    this.#options = options
  }

  /** Returns whether the controller is removing a user with a verified id. */
  isUnderWay(roomId: string, userId: string): boolean {
    return this.#kicking.has(keyOf(roomId, userId))
  }

  /**
   * Removes a person at the request of the controller. Resolves to false if no such person is in the room.
   * @throws the errors of AdminApi.ask
   */
  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { participants, removals, traits, visitors } = this.#options
    if (participants.user(roomId, userId) === undefined) {
      await participants.read(roomId, signal)
      if (participants.user(roomId, userId) === undefined) return false
    }
    const key = keyOf(roomId, userId)
    // The node or the page verifies the id. The id of a person who is still entering does not count as verified.
    const proven = traits.current.guarded || visitors.isHere(roomId, userId)
    if (proven) this.#kicking.add(key)
    try {
      // The removal is stored first, so that the person is refused even if a later step fails.
      await unlessAborted(removals.remove({ roomId, userId, proven }), signal)
      return await this.remove(roomId, userId, signal)
    } finally {
      this.#kicking.delete(key)
    }
  }

  /**
   * Revokes a user's tokens, and removes the user. Resolves to false if the user was not in the room.
   * @throws the errors of AdminApi.ask
   */
  async remove(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    // After the revocation, the user cannot open further sessions.
    await this.#options.admission.takeBack(roomId, userId, signal)
    return await this.displace(roomId, userId, signal)
  }

  /**
   * Ends a participant session and its media on this node; the user may rejoin. Resolves to false if the user was not
   * in the room.
   * @throws the errors of AdminApi.ask
   */
  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { rooms, participants, expel } = this.#options
    // Searches first: after the participant is removed, its handles can no longer be found.
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
