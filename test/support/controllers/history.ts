/** A request of a client. A room is named by its room_id, also before it exists. */
export type Asked =
  | { do: 'create'; room: string; topic: string }
  | { do: 'update'; room: string; topic: string }
  | { do: 'delete'; room: string }
  /** Alone, or as part of a list. */
  | { do: 'get'; room: string; listed?: true }
  /** Users of the room; only whether the room exists counts. */
  | { do: 'users'; room: string }
  | { do: 'addDevice'; room: string; user: string }
  | { do: 'removeDevice'; room: string; user: string }
  | { do: 'devices'; room: string }
  /** A session: every later call uses its token, which stays valid. */
  | { do: 'signIn' }
  /** All rooms of an owner. */
  | { do: 'list'; owner: string }

/** A room as an answer shows it. */
export interface SeenRoom {
  room: string
  topic: string
  /** Its number, which is never reused. */
  id: number
}

/** Requests about one room. */
export type AskedOfRoom = Exclude<Asked, { do: 'list' | 'signIn' }>

/** Outcome of a call as the client saw it. */
export type Outcome =
  /** Done, with the result of the read. */
  | { as: 'done'; seen?: SeenRoom; users?: readonly string[]; rooms?: readonly SeenRoom[] }
  /** The room does not exist. */
  | { as: 'noRoom' }
  /** The room, or the device in it, exists already. */
  | { as: 'exists' }
  /** The device is not in the room. */
  | { as: 'noDevice' }
  /** No answer, or an error that may be wrong: the change is applied or is not. @param ret of the answer, if there was one */
  | { as: 'open'; ret?: number }
  /** The connection was refused, so no controller received the request. */
  | { as: 'unasked' }
  /** An answer that no controller may give, whatever happens. */
  | { as: 'wrong'; answer: string }

/** One call of one client, whose calls follow one another. Times are in milliseconds of one clock. */
export interface Call {
  client: string
  /** The controller that it was sent to. */
  at: string
  /** Owner of the rooms: a list shows the rooms of one owner. */
  owner: string
  asked: Asked
  outcome: Outcome
  start: number
  end: number
}

const changes: readonly Asked['do'][] = ['create', 'update', 'delete', 'addDevice', 'removeDevice']

/** Tells whether the call is a change. */
export function isChange({ asked }: Call): boolean {
  return changes.includes(asked.do)
}

/** Formats a call as one line for the person who reads a failed test. */
export function describeCall(call: Call, from = 0): string {
  const { client, at, asked, outcome: answer, start, end } = call
  const { do: what, ...rest } = asked
  const { as, ...more } = answer
  const values = (of: object): string => (Object.keys(of).length === 0 ? '' : ` ${JSON.stringify(of)}`)
  return `${(start - from).toFixed(1)}–${(end - from).toFixed(1)} ms ${client}→${at} ${what}${values(rest)}: ${as}${values(more)}`
}
