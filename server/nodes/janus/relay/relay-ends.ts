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
