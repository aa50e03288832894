import { setNewest } from '../../../../shared/growing-cache.ts'
import { isExpired } from '../../../../shared/tokens.ts'
import { issueToken, type TokenClaims, unverifiedClaims } from '../../../../shared/files/signed-tokens.ts'
import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { JanusRooms } from './janus-rooms.ts'

/** Maximum number of valid tokens kept per room. The oldest are dropped first. */
const maxTokens = 2_000

type RoomToken = TokenClaims<'janus-room'>

export type TokenRequest = Omit<RoomToken, 'room'> & Readonly<{ roomId: string }>

/** Tokens of one room. */
interface Admitted {
  /** Issued tokens that have not expired. */
  tokens: Map<string, RoomToken>
  /** Tokens by user id that do not count against the limit, and are also valid in a locked room. */
  beside: Map<string, string>
  /** Roles by user id, from their latest token. */
  roles: Map<string, RoomToken['role']>
  /** Tokens that the node admits now; undefined while unknown. */
  onNode: ReadonlySet<string> | undefined
  locked: boolean
}

/**
 * Admission to the rooms of one node. A guarded room admits holders of issued tokens. Tokens are signed, so that they
 * expire, and are on the room's list, so that they can be revoked. A locked room admits no person. An unguarded room
 * admits everyone unless it is locked.
 */
export class TokenAdmission {
  readonly #rooms: JanusRooms
  readonly #secret: string
  readonly #traits: Pick<NodeTraits, 'current'>
  readonly #clock: () => number
  readonly #isBeside: (roomId: string, userId: string) => boolean
  readonly #admitted = new Map<string, Admitted>()

  /** @param isBeside returns whether this or a previous controller admitted the participant without counting it */
  constructor(
    rooms: JanusRooms,
    secret: string,
    traits: Pick<NodeTraits, 'current'>,
    clock: () => number,
    isBeside: (roomId: string, userId: string) => boolean = () => false,
  ) {
    this.#isBeside = isBeside
    this.#rooms = rooms
    this.#secret = secret
    this.#traits = traits
    this.#clock = clock
  }

  /** Returns the list with which a room is created; undefined: no token is required. */
  listFor(room: NodeRoom): string[] | undefined {
    return this.#asks(room.locked) ? this.#wanted(this.#of(room.roomId), room.locked) : undefined
  }

  /** Records that the room was created with the list of `listFor`. */
  made(room: NodeRoom): void {
    const admitted = this.#of(room.roomId)
    admitted.locked = room.locked
    admitted.onNode = new Set(this.listFor(room))
  }

  /**
   * Updates the list of an existing room.
   * @throws the errors of AdminApi.askPlugin
   */
  async changed(room: NodeRoom, signal: AbortSignal): Promise<void> {
    const { roomId, locked } = room
    const admitted = this.#of(roomId)
    const before = admitted.onNode === undefined ? undefined : this.#asks(admitted.locked)
    if (admitted.onNode === undefined) {
      // The listed tokens were issued by another controller, or earlier by this controller.
      const found = await this.#rooms.allowed(roomId, signal)
      for (const token of found) {
        const userId = unverifiedClaims('janus-room', token)?.userId ?? ''
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
   * Issues a token for one person or device.
   * @returns the token; empty if none is required
   * @param expiresAt Unix seconds
   * @throws NodeError if the room is locked, except for devices; the errors of AdminApi.askPlugin
   */
  async admit(request: TokenRequest, signal: AbortSignal): Promise<string> {
    const { roomId } = request
    const admitted = this.#of(roomId)
    if (admitted.locked && request.role !== 'device') throw new NodeError('The room is locked.')
    if (!this.#asks(admitted.locked)) return ''
    const text = this.#sign(request)
    this.#keep(admitted, text)
    await this.#apply(roomId, admitted, signal)
    return text
  }

  /**
   * Issues a token for a participant that does not count against the limit, even if the room is locked or requires no
   * token.
   * @throws the errors of AdminApi.askPlugin
   */
  async admitBeside(request: TokenRequest, signal: AbortSignal): Promise<string> {
    const { roomId, userId } = request
    const admitted = this.#of(roomId)
    const text = this.#sign(request)
    admitted.beside.set(userId, text)
    await this.#apply(roomId, admitted, signal)
    return text
  }

  /**
   * Issues a token for a user who may enter, even if the room is locked. The token is valid until it is withdrawn.
   * @returns the token; empty if none is required
   * @throws the errors of AdminApi.askPlugin
   */
  async admitKnown(request: TokenRequest, signal: AbortSignal): Promise<string> {
    return this.#asks(this.#of(request.roomId).locked) ? await this.admitBeside(request, signal) : ''
  }

  /**
   * Revokes a token issued by `admitKnown` or `admitBeside`.
   * @throws the errors of AdminApi.askPlugin
   */
  async withdraw(roomId: string, userId: string, text: string, signal: AbortSignal): Promise<void> {
    const admitted = this.#admitted.get(roomId)
    if (admitted?.beside.get(userId) !== text) return
    admitted.beside.delete(userId)
    await this.#apply(roomId, admitted, signal)
  }

  /**
   * Revokes all tokens of a user. Does nothing on the node if the room no longer exists.
   * @throws the errors of AdminApi.askPlugin
   */
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

  /** Returns the role of the user's latest token. */
  roleOf(roomId: string, userId: string): 'host' | 'member' {
    return this.#admitted.get(roomId)?.roles.get(userId) === 'host' ? 'host' : 'member'
  }

  /** Drops the tokens of a deleted room. */
  forget(roomId: string): void {
    this.#admitted.delete(roomId)
  }

  /** Marks the lists on the node as unknown. Issued tokens stay valid. */
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

  #sign({ roomId, ...request }: TokenRequest): string {
    return issueToken('janus-room', this.#secret, { ...request, room: this.#rooms.nameOf(roomId) })
  }

  #asks(locked: boolean): boolean {
    return this.#traits.current.guarded || locked
  }

  #keep(admitted: Admitted, text: string): void {
    const token = unverifiedClaims('janus-room', text)
    if (token === undefined) return
    setNewest(admitted.tokens, text, token, maxTokens)
    setNewest(admitted.roles, token.userId, token.role, maxTokens)
  }

  #wanted(admitted: Admitted, locked: boolean): string[] {
    const now = this.#clock()
    for (const [text, token] of admitted.tokens) if (isExpired('janus-room', token, now)) admitted.tokens.delete(text)
    const people = [...admitted.tokens].flatMap(([text, { role }]) => (locked && role !== 'device' ? [] : [text]))
    return [...people, ...admitted.beside.values()]
  }

  /** Makes the list on the node match the desired list. */
  async #apply(roomId: string, admitted: Admitted, signal: AbortSignal): Promise<void> {
    const { onNode } = admitted
    // The list is read when the room is opened the next time.
    if (onNode === undefined) return
    const wanted = new Set(this.#wanted(admitted, admitted.locked))
    const gone = [...onNode].filter((token) => !wanted.has(token))
    const added = [...wanted].filter((token) => !onNode.has(token))
    if (gone.length > 0) admitted.onNode = new Set(await this.#rooms.changeAllowed(roomId, 'remove', gone, signal))
    if (added.length > 0) admitted.onNode = new Set(await this.#rooms.changeAllowed(roomId, 'add', added, signal))
  }
}
