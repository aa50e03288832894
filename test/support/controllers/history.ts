/** What a client asked for. A room is named by the room_id that it has, or is to have. */
export type Asked =
  | { do: 'create'; room: string; topic: string }
  | { do: 'update'; room: string; topic: string }
  | { do: 'delete'; room: string }
  /** Alone, or as one of a list. */
  | { do: 'get'; room: string; listed?: true }
  /** Who is in it; only whether the room is there counts. */
  | { do: 'users'; room: string }
  | { do: 'addDevice'; room: string; user: string }
  | { do: 'removeDevice'; room: string; user: string }
  | { do: 'devices'; room: string }
  /** A session, of which every later call has the token: a token that was given once always counts. */
  | { do: 'signIn' }
  /** All rooms of an owner. */
  | { do: 'list'; owner: string }

/** A room as an answer shows it. */
export interface SeenRoom {
  room: string
  topic: string
  /** Its number, which is never given to another. */
  id: number
}

/** What is about one room. */
export type AskedOfRoom = Exclude<Asked, { do: 'list' | 'signIn' }>

/** What a client was told. */
export type Told =
  /** Done; with what was read. */
  | { as: 'done'; seen?: SeenRoom; users?: readonly string[]; rooms?: readonly SeenRoom[] }
  /** There is no such room. */
  | { as: 'noRoom' }
  /** There is one already: a room, or a device in it. */
  | { as: 'exists' }
  /** There is no such device in the room. */
  | { as: 'noDevice' }
  /** No answer, or one that says that it was not done and may be wrong: a change is done or is not. @param ret of the answer, where there was one */
  | { as: 'open'; ret?: number }
  /** The connection was refused: it was asked of nobody. */
  | { as: 'unasked' }
  /** What no controller may answer, whatever happens. */
  | { as: 'wrong'; answer: string }

/** One call of one client, whose calls follow one another. Times are milliseconds of one clock. */
export interface Call {
  client: string
  /** The controller that it was sent to. */
  at: string
  /** Who owns the rooms that it is about: a list shows the rooms of one owner. */
  owner: string
  asked: Asked
  told: Told
  start: number
  end: number
}

const changes: readonly Asked['do'][] = ['create', 'update', 'delete', 'addDevice', 'removeDevice']

/** Whether it is to change something. */
export function isChange({ asked }: Call): boolean {
  return changes.includes(asked.do)
}

/** One line for a person who looks for what went wrong. */
export function told(call: Call, from = 0): string {
  const { client, at, asked, told: answer, start, end } = call
  const { do: what, ...rest } = asked
  const { as, ...more } = answer
  const values = (of: object): string => (Object.keys(of).length === 0 ? '' : ` ${JSON.stringify(of)}`)
  return `${(start - from).toFixed(1)}–${(end - from).toFixed(1)} ms ${client}→${at} ${what}${values(rest)}: ${as}${values(more)}`
}
