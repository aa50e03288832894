import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusRooms } from './janus-rooms.ts'
import { readRoomToken, roomToken, type RoomToken } from './signed-token.ts'

/** A token is kept with its room for as long as it counts; the oldest go first. */
const maxTokens = 2_000

/** User and room of a token. */
export type TokenWish = Omit<RoomToken, 'room'> & Readonly<{ roomId: string }>

/** Tokens of one room. */
interface Admitted {
  /** Those that were given out and still count. */
  tokens: Map<string, RoomToken>
  /** Those that let in beside the people, also into a locked room, by their userId. */
  beside: Map<string, string>
  /** Roles by userId, from their latest token. */
  roles: Map<string, RoomToken['role']>
  /** Users whom the node admits now; undefined while unknown. */
  onNode: ReadonlySet<string> | undefined
  locked: boolean
}

/**
 * Admission to the rooms of one node. A guarded room admits holders of issued tokens: signed, so that they expire, and on the room's list, so that they can be revoked. A locked
 * room admits nobody. A room without guard admits everybody unless it is locked.
 */
export class TokenAdmission {
  readonly #rooms: JanusRooms
  readonly #secret: string
  readonly #guarded: () => boolean
  readonly #clock: () => number
  readonly #isBeside: (roomId: string, userId: string) => boolean
  readonly #admitted = new Map<string, Admitted>()

  /** @param isBeside somebody was let in beside the people, by whichever controller */
  constructor(
    rooms: JanusRooms,
    secret: string,
    guarded: () => boolean,
    clock: () => number,
    isBeside: (roomId: string, userId: string) => boolean = () => false,
  ) {
    this.#isBeside = isBeside
    this.#rooms = rooms
    this.#secret = secret
    this.#guarded = guarded
    this.#clock = clock
  }

  /** The list with which a room is made; undefined: nobody is asked. */
  listFor(room: NodeRoom): string[] | undefined {
    return this.#asks(room.locked) ? this.#wanted(this.#of(room.roomId), room.locked) : undefined
  }

  /** The room was made with `listFor`. */
  made(room: NodeRoom): void {
    const admitted = this.#of(room.roomId)
    admitted.locked = room.locked
    admitted.onNode = new Set(this.listFor(room))
  }

  /** The room was there: its list becomes what it is to be. @throws as AdminApi.askPlugin */
  async changed(room: NodeRoom, signal: AbortSignal): Promise<void> {
    const { roomId, locked } = room
    const admitted = this.#of(roomId)
    const before = admitted.onNode === undefined ? undefined : this.#asks(admitted.locked)
    if (admitted.onNode === undefined) {
      // Another controller, or this one before it started again, gave out what is on it.
      const found = await this.#rooms.allowed(roomId, signal)
      for (const token of found) {
        const userId = readRoomToken(token)?.userId ?? ''
        if (this.#isBeside(roomId, userId)) admitted.beside.set(userId, token)
        else this.#keep(admitted, token)
      }
      admitted.onNode = new Set(found)
    }
    admitted.locked = locked
    await this.#apply(roomId, admitted, signal)
    const asks = this.#asks(locked)
    if (before !== asks) await this.#rooms.askForTokens(roomId, asks, signal)
  }

  /**
   * Gives out a token for one person or device.
   * @returns the token; empty where none is needed
   * @param expiresAt Unix seconds
   * @throws NodeError when the room is locked, but for a device; as AdminApi.askPlugin
   */
  async admit(wish: TokenWish, signal: AbortSignal): Promise<string> {
    const { roomId } = wish
    const admitted = this.#of(roomId)
    if (admitted.locked && wish.role !== 'device') throw new NodeError('The room is locked.')
    if (!this.#asks(admitted.locked)) return ''
    const text = this.#sign(wish)
    this.#keep(admitted, text)
    await this.#apply(roomId, admitted, signal)
    return text
  }

  /**
   * Gives out a token for a participant who takes nobody's place, also where the room is locked. One is given out whether it is needed or not.
   * @throws as AdminApi.askPlugin
   */
  async admitBeside(wish: TokenWish, signal: AbortSignal): Promise<string> {
    const { roomId, userId } = wish
    const admitted = this.#of(roomId)
    const text = this.#sign(wish)
    admitted.beside.set(userId, text)
    await this.#apply(roomId, admitted, signal)
    return text
  }

  /**
   * Issues a token for a user who may enter, also a locked room, until it is withdrawn.
   * @returns the token; empty if none is needed
   * @throws as AdminApi.askPlugin
   */
  async admitKnown(wish: TokenWish, signal: AbortSignal): Promise<string> {
    return this.#asks(this.#of(wish.roomId).locked) ? await this.admitBeside(wish, signal) : ''
  }

  /** A token that was given out by `admitKnown` or `admitBeside` lets nobody in any more. @throws as AdminApi.askPlugin */
  async withdraw(roomId: string, userId: string, text: string, signal: AbortSignal): Promise<void> {
    const admitted = this.#admitted.get(roomId)
    if (admitted?.beside.get(userId) !== text) return
    admitted.beside.delete(userId)
    await this.#apply(roomId, admitted, signal)
  }

  /** Tokens of somebody let nobody in any more; in a room that is gone they do not anyway. @throws as AdminApi.askPlugin */
  async takeBack(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    const admitted = this.#admitted.get(roomId)
    if (admitted === undefined) return
    for (const [text, token] of admitted.tokens) if (token.userId === userId) admitted.tokens.delete(text)
    admitted.beside.delete(userId)
    try {
      await this.#apply(roomId, admitted, signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noRoom)) throw error
      admitted.onNode = undefined
    }
  }

  /** As the token says that somebody was given last. */
  roleOf(roomId: string, userId: string): 'host' | 'member' {
    return this.#admitted.get(roomId)?.roles.get(userId) === 'host' ? 'host' : 'member'
  }

  /** The room is gone for good. */
  forget(roomId: string): void {
    this.#admitted.delete(roomId)
  }

  /** The node may have lost its lists; what was given out still counts. */
  lost(): void {
    for (const admitted of this.#admitted.values()) admitted.onNode = undefined
  }

  #of(roomId: string): Admitted {
    const known = this.#admitted.get(roomId)
    if (known !== undefined) return known
    const made: Admitted = { tokens: new Map(), beside: new Map(), roles: new Map(), onNode: undefined, locked: false }
    this.#admitted.set(roomId, made)
    return made
  }

  #sign({ roomId, ...wish }: TokenWish): string {
    return roomToken(this.#secret, { ...wish, room: this.#rooms.nameOf(roomId) })
  }

  #asks(locked: boolean): boolean {
    return this.#guarded() || locked
  }

  #keep(admitted: Admitted, text: string): void {
    const token = readRoomToken(text)
    if (token === undefined) return
    admitted.tokens.delete(text)
    admitted.tokens.set(text, token)
    admitted.roles.delete(token.userId)
    admitted.roles.set(token.userId, token.role)
    for (const kept of [admitted.tokens, admitted.roles]) {
      for (const oldest of kept.keys()) {
        if (kept.size <= maxTokens) break
        kept.delete(oldest)
      }
    }
  }

  #wanted(admitted: Admitted, locked: boolean): string[] {
    const now = this.#clock() / 1_000
    for (const [text, { expiresAt }] of admitted.tokens) if (expiresAt < now) admitted.tokens.delete(text)
    const people = [...admitted.tokens].flatMap(([text, { role }]) => (locked && role !== 'device' ? [] : [text]))
    return [...people, ...admitted.beside.values()]
  }

  /** The list on the node becomes what it is to be. */
  async #apply(roomId: string, admitted: Admitted, signal: AbortSignal): Promise<void> {
    const { onNode } = admitted
    // It is read when the room is opened the next time.
    if (onNode === undefined) return
    const wanted = new Set(this.#wanted(admitted, admitted.locked))
    const gone = [...onNode].filter((token) => !wanted.has(token))
    const added = [...wanted].filter((token) => !onNode.has(token))
    if (gone.length > 0) admitted.onNode = new Set(await this.#rooms.changeAllowed(roomId, 'remove', gone, signal))
    if (added.length > 0) admitted.onNode = new Set(await this.#rooms.changeAllowed(roomId, 'add', added, signal))
  }
}
