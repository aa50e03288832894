import { derivedSecret, type JanusSecrets } from '../../secrets/janus-access.ts'

/** Characters of the part that cannot be guessed: 132 bits. */
const secretLength = 22

/**
 * Names of rooms on one node. Janus tells the holder of a token for one room who is in any other room that they can name (`exists` and `listparticipants` ask for nothing else):
 * so in guarded rooms the name is derived from the key of the node, and only admitted users get it. Other rooms are open to everybody, and named by their number.
 */
export class RoomNames {
  readonly #secrets: Pick<JanusSecrets, 'room_key'>
  readonly #guarded: () => boolean

  /** @param guarded whether the node's rooms let only those in who have a token */
  constructor(secrets: Pick<JanusSecrets, 'room_key'>, guarded: () => boolean) {
    this.#secrets = secrets
    this.#guarded = guarded
  }

  /** The name of a room of ours. */
  of(roomId: string): string {
    return this.#guarded() ? this.#secretName(roomId) : roomId
  }

  /** The room of ours that has this name; the name itself for any other, and for one that was made while rooms were called otherwise. */
  roomOf(name: string): string {
    const roomId = decoded(name.slice(0, -secretLength - 1))
    return roomId !== undefined && this.#secretName(roomId) === name ? roomId : name
  }

  /** Whether a room of ours with this name is called as it would be now. */
  isCurrent(name: string, roomId: string): boolean {
    return this.#guarded() === (name !== roomId)
  }

  /** It begins with the room's number, for who reads the node's log. A comma or colon would end it where a token names it. */
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
