import { tokenKinds } from '../../../../shared/tokens.ts'
import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { JanusRooms } from '../rooms/janus-rooms.ts'
import type { TokenAdmission } from '../rooms/token-admission.ts'

export interface RelayParticipantsOptions {
  ids: RelayIds
  rooms: JanusRooms
  admission: TokenAdmission
  /** Returns the room as the node holds it; undefined if the node does not hold it, or its record is not loaded yet. */
  room: (roomId: string) => NodeRoom | undefined
  /** Participants that a previous controller admitted. */
  left?: readonly RelayParticipant[] | undefined
  /** Returns milliseconds since the epoch. */
  clock: () => number
}

/**
 * Relay participants in the rooms of one node. They are admitted even if the room is full or locked, and do not count
 * against its limit.
 */
export class RelayParticipants {
  readonly #options: RelayParticipantsOptions
  /** Ids of admitted participants, by room. */
  readonly #admitted = new Map<string, Set<string>>()

  constructor(options: RelayParticipantsOptions) {
    this.#options = options
    for (const participant of options.left ?? []) this.#add(participant)
  }

  /** Returns whether an id is that of a relay participant. */
  has(id: string): boolean {
    return this.#options.ids.has(id)
  }

  /** Returns whether this or a previous controller admitted the participant. */
  isAdmitted(roomId: string, id: string): boolean {
    return this.#admitted.get(roomId)?.has(id) === true
  }

  /** Returns the number of relay participants that are in the room or about to join. */
  count(roomId: string): number {
    return this.#admitted.get(roomId)?.size ?? 0
  }

  /** Returns the number of streams relayed to the room. The publisher limit is raised by this number. */
  publishers(roomId: string): number {
    const { ids } = this.#options
    return [...(this.#admitted.get(roomId) ?? [])].filter((id) => ids.streamOf(id) !== undefined).length
  }

  /**
   * Admits a participant to a room in addition to its people. Returns the fields of the join request, including the
   * name of the room on the node.
   * @throws NodeError; the signal's reason
   */
  async admit({ roomId, id }: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { ids, rooms, admission, clock } = this.#options
    this.#roomOf(roomId)
    const expiresAt = Math.floor((clock() + tokenKinds['janus-room'].lifetime.standingMs) / 1_000)
    const token = await admission.admitBeside({ roomId, userId: id, role: 'member', expiresAt }, signal)
    this.#add({ roomId, id })
    if (ids.streamOf(id) !== undefined) await this.#makePlace(roomId, signal)
    return { room: rooms.nameOf(roomId), token }
  }

  /**
   * Revokes the admission of a participant.
   * @throws NodeError; the signal's reason
   */
  async release({ roomId, id }: RelayParticipant, signal: AbortSignal): Promise<void> {
    const { ids, admission, room } = this.#options
    const admitted = this.#admitted.get(roomId)
    admitted?.delete(id)
    if (admitted?.size === 0) this.#admitted.delete(roomId)
    if (room(roomId) === undefined) return
    await admission.takeBack(roomId, id, signal)
    if (ids.streamOf(id) !== undefined) await this.#makePlace(roomId, signal)
  }

  /**
   * Removes a participant that has no relay connection of this controller. Does nothing if the participant is not in
   * the room.
   * @throws NodeError; the signal's reason
   */
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

/**
 * Ids of the participants that relays add to rooms. Each id begins with a prefix of the site, by which it is recognized
 * in lists of participants: relay participants do not count as people.
 */
export class RelayIds {
  readonly #prefix: string

  /** @param mark unguessable part of the prefix, secret until an id appears in a room */
  constructor(mark: string) {
    this.#prefix = `relay-${mark}~`
  }

  /** Id of the observer, which watches the publishers of a room. */
  get observer(): string {
    return this.#prefix
  }

  /** Returns the participant id under which a relay publishes a user's stream on another node. */
  of(stream: string): string {
    return this.#prefix + stream
  }

  /** Returns whether an id is that of a relay participant. */
  has(id: string): boolean {
    return id.startsWith(this.#prefix)
  }

  /** Returns the stream of a relay participant; undefined for the observer and for other participants. */
  streamOf(id: string): string | undefined {
    return this.has(id) && id.length > this.#prefix.length ? id.slice(this.#prefix.length) : undefined
  }
}

/** A participant that represents a relay in a room. */
export interface RelayParticipant {
  roomId: string
  id: string
}

/** A handle of a relay, with its session. */
export interface RelayEnd {
  session: number
  handle: number
}
