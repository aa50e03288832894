/** A room as the controller wants it held (the port's NodeRoom). */
export interface RoomConfig {
  roomId: string
  topic: string
  mode: 1 | 2 | 3 | 4
  hostPassword: string
  attendeeMax: number
  maxVideo: number
  maxAudio: number
  locked: boolean
  /** A host lets people in; left out: nobody waits. */
  waitingRoom?: boolean | undefined
  /** Its media is on another node. */
  isRemote: boolean
}

/** Modes 3 and 4: people send to each other, the node forwards cameras only (specification, room_mode). */
export function isPeerToPeer({ mode }: RoomConfig): boolean {
  return mode === 3 || mode === 4
}
