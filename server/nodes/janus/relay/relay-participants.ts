import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { TokenAdmission } from '../rooms/token-admission.ts'
import type { JanusRooms } from '../rooms/janus-rooms.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayParticipant } from './relay-ends.ts'

/** Needs of admitting relay participants to the rooms of one node. */
export interface RelayParticipantsOptions {
  ids: RelayIds
  rooms: JanusRooms
  admission: TokenAdmission
  /** The room as the node holds it; undefined when it does not, or has not got its record yet. */
  room: (roomId: string) => NodeRoom | undefined
  /** Those of before. */
  left?: readonly RelayParticipant[] | undefined
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Seconds that a token counts: a relay lives no longer than its room, and is taken back with it. */
const tokenSeconds = 10 * 365 * 24 * 3_600

/** Relays in the rooms of one node: they are let in beside the people, also where the room is full or locked, and take nobody's place. */
export class RelayParticipants {
  readonly #options: RelayParticipantsOptions
  /** Those that were let in, by room. */
  readonly #admitted = new Map<string, Set<string>>()

  constructor(options: RelayParticipantsOptions) {
    this.#options = options
    for (const participant of options.left ?? []) this.#add(participant)
  }

  /** It is no person. */
  has(id: string): boolean {
    return this.#options.ids.has(id)
  }

  /** It was let in, by whichever controller. */
  isAdmitted(roomId: string, id: string): boolean {
    return this.#admitted.get(roomId)?.has(id) === true
  }

  /** How many are in the room, or about to be. */
  count(roomId: string): number {
    return this.#admitted.get(roomId)?.size ?? 0
  }

  /** Streams that are handed to the room: so many may publish beside its people. */
  publishers(roomId: string): number {
    const { ids } = this.#options
    return [...(this.#admitted.get(roomId) ?? [])].filter((id) => ids.streamOf(id) !== undefined).length
  }

  /** See RelayNode.admit. */
  async admit({ roomId, id }: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { ids, rooms, admission, clock } = this.#options
    this.#roomOf(roomId)
    const expiresAt = Math.floor(clock() / 1_000) + tokenSeconds
    const token = await admission.admitBeside({ roomId, userId: id, role: 'member', expiresAt }, signal)
    this.#add({ roomId, id })
    if (ids.streamOf(id) !== undefined) await this.#makePlace(roomId, signal)
    return { room: rooms.nameOf(roomId), token }
  }

  /** See RelayNode.release. */
  async release({ roomId, id }: RelayParticipant, signal: AbortSignal): Promise<void> {
    const { ids, admission, room } = this.#options
    const admitted = this.#admitted.get(roomId)
    admitted?.delete(id)
    if (admitted?.size === 0) this.#admitted.delete(roomId)
    if (room(roomId) === undefined) return
    await admission.takeBack(roomId, id, signal)
    if (ids.streamOf(id) !== undefined) await this.#makePlace(roomId, signal)
  }

  /** See RelayNode.clear. */
  async clear({ roomId, id }: RelayParticipant, signal: AbortSignal): Promise<void> {
    await this.#options.rooms.kick(roomId, id, signal)
  }

  #add({ roomId, id }: RelayParticipant): void {
    const admitted = this.#admitted.get(roomId) ?? new Set<string>()
    this.#admitted.set(roomId, admitted.add(id))
  }

  async #makePlace(roomId: string, signal: AbortSignal): Promise<void> {
    await this.#options.rooms.edit(this.#roomOf(roomId), signal, this.publishers(roomId))
  }

  #roomOf(roomId: string): NodeRoom {
    const room = this.#options.room(roomId)
    if (room === undefined) throw new NodeError('the room is not open on the node yet')
    return room
  }
}
