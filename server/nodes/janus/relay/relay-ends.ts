/** A participant that relays have in a room. */
export interface RelayParticipant {
  roomId: string
  id: string
}

/** A handle of a relay, in its session. */
export interface RelayEnd {
  session: number
  handle: number
}
