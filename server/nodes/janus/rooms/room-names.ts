import { derivedSecret, type JanusSecrets } from '../../secrets/janus-access.ts'

/** Length of the unguessable part: 22 base64url characters, 132 bits. */
const secretLength = 22

/**
 * Names of rooms on one node. A holder of a token for one room can list the participants of any room whose name they
 * have (`exists` and `listparticipants` require nothing else). In guarded rooms, the name is therefore derived from the
 * node's key, and given only to admitted users. Other rooms are open to everyone, and named by their number.
 */
export class JanusRoomNames {
  readonly #secrets: Pick<JanusSecrets, 'room_key'>
  readonly #guarded: () => boolean

  /** @param guarded returns whether the node's rooms require a token */
  constructor(secrets: Pick<JanusSecrets, 'room_key'>, guarded: () => boolean) {
    this.#secrets = secrets
    this.#guarded = guarded
  }

  /** Returns the name of a room of this site. */
  of(roomId: string): string {
    return this.#guarded() ? this.#secretName(roomId) : roomId
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
    return this.#guarded() === (name !== roomId)
  }

  /**
   * Begins with the room's number, for readers of the node's log. The number is encoded because a comma or colon would
   * end the name within a token.
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
