import { derivedSecret, type JanusSecrets } from '../../secrets/janus-access.ts'
import type { Traits } from '../wire/node-traits.ts'

/** Source of the information whether the node's rooms require a token. */
interface GuardedTraits {
  readonly current: Pick<Traits, 'guarded'>
}

/** Length of the unguessable part: 22 base64url characters, 132 bits. */
const secretLength = 22

/**
 * Names of rooms on one node. A holder of a token for one room can list the participants of any room whose name they
 * have (`exists` and `listparticipants` require nothing else). In guarded rooms, the name is therefore derived from the
 * node's key, and given only to admitted users. Other rooms are open to everyone, and named by their number.
 */
export class JanusRoomNames {
  readonly #secrets: Pick<JanusSecrets, 'room_key'>
  readonly #traits: GuardedTraits

  constructor(secrets: Pick<JanusSecrets, 'room_key'>, traits: GuardedTraits) {
    this.#secrets = secrets
    this.#traits = traits
  }

  /** Returns the name of a room of this site. */
  of(roomId: string): string {
    return this.#traits.current.guarded ? this.#secretName(roomId) : roomId
  }

  /**
   * Returns the id of the room of this site with this name. Returns the name itself for other rooms, and for rooms
   * created under another naming scheme.
   */
  roomOf(name: string): string {
    const roomId = decoded(name.slice(0, -secretLength - 1))
    return roomId !== undefined && this.#secretName(roomId) === name ? roomId : name
  }

  /** Returns whether the name follows the current naming scheme. */
  isCurrent(name: string, roomId: string): boolean {
    return this.#traits.current.guarded === (name !== roomId)
  }

  /**
   * Returns a name that begins with the room's number, for readers of the node's log. The number is encoded because a
   * comma or colon would end the name within a token.
   */
  #secretName(roomId: string): string {
    const secret = derivedSecret(this.#secrets, 'name', roomId).slice(0, secretLength)
    return `${encodeURIComponent(roomId)}-${secret}`
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
