import { type AskedOfRoom, type Call, isChange, type SeenRoom, describeCall } from './history.ts'
import { findOrder } from './possible-order.ts'
import { after, Impossible, nameOf, noRoom, type RoomState } from './room-model.ts'

/** A violation: one sentence, and the calls that show it. */
export interface Violation {
  what: string
  calls: readonly string[]
}

/** A call about one room. */
type RoomCall = Call & { asked: AskedOfRoom }

/**
 * Finds contradictions between a history and one site that loses no acknowledged change, applies none twice and never answers with a state older than the request:
 * for each room there must be an order of its calls that explains every answer. A change with unknown outcome may apply at any time after its request, once or not at all.
 * Clients send one request after the other, so an order that respects the time of each call also never lets a client's reads go back, whichever address it uses.
 */
export function violations(history: readonly Call[]): Violation[] {
  return [...wrongAnswers(history), ...numbersTwice(history), ...topicsTwice(history), ...withoutOrder(history)]
}

function wrongAnswers(history: readonly Call[]): Violation[] {
  return history
    .filter((call) => call.outcome.as === 'wrong')
    .map((call) => ({ what: 'An answer that no controller may give.', calls: [describeCall(call)] }))
}

/** Iterates over every room that an answer shows, with the call. */
function* seenRooms(history: readonly Call[]): Generator<{ seen: SeenRoom; call: Call }> {
  for (const call of history) {
    if (call.outcome.as !== 'done') continue
    if (call.outcome.seen !== undefined) yield { seen: call.outcome.seen, call }
    for (const seen of call.outcome.rooms ?? []) yield { seen, call }
  }
}

/** Finds numbers that two rooms share. */
function numbersTwice(history: readonly Call[]): Violation[] {
  const rooms = new Map<number, { room: string; call: Call }>()
  const found: Violation[] = []
  for (const { seen, call } of seenRooms(history)) {
    const before = rooms.get(seen.id)
    if (before === undefined) rooms.set(seen.id, { room: seen.room, call })
    else if (before.room !== seen.room)
      found.push({
        what: `Rooms ${before.room} and ${seen.room} have the same number ${seen.id}.`,
        calls: [describeCall(before.call), describeCall(call)],
      })
  }
  return found
}

/** Finds topics of two rooms. Topics are unique and a room with a generated room_id keeps its topic: two rooms of one topic are one creation applied twice. */
function topicsTwice(history: readonly Call[]): Violation[] {
  const rooms = new Map<string, { room: string; call: Call }>()
  const found = new Map<string, Violation>()
  for (const { seen, call } of seenRooms(history)) {
    const before = rooms.get(seen.topic)
    if (before === undefined) rooms.set(seen.topic, { room: seen.room, call })
    else if (before.room !== seen.room)
      found.set(seen.topic, {
        what: `Rooms ${before.room} and ${seen.room} are one creation (${seen.topic}) applied twice.`,
        calls: [describeCall(before.call), describeCall(call)],
      })
  }
  return [...found.values()]
}

function withoutOrder(history: readonly Call[]): Violation[] {
  const found: Violation[] = []
  const seen = seenNames(history)
  for (const [room, calls] of callsOfRooms(history)) {
    const result = findOrder(calls.filter((call) => matters(call, seen)).map(timed), {
      begin: noRoom,
      after: (state: RoomState, { call }) => {
        const next = after(state, call.asked, call.outcome)
        return next instanceof Impossible ? undefined : next
      },
      name: nameOf,
    })
    if (result.order) continue
    const { stuck, state, undecided } = result
    const why = after(state, stuck.call.asked, stuck.call.outcome)
    const reason = why instanceof Impossible ? why.why : 'nothing explains it'
    found.push({
      what: undecided
        ? `Room ${room}: its calls are too tangled to be judged.`
        : `Room ${room}: no order of its calls explains the answer to ${stuck.call.client} (${describeCall(stuck.call)}): ${reason}.`,
      calls: calls.toSorted((one, other) => one.start - other.start).map((call) => describeCall(call)),
    })
  }
  return found
}

/** Topics and userIds that an answer shows, or that were certainly given to a device. */
function seenNames(history: readonly Call[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { seen } of seenRooms(history)) names.add(seen.topic)
  for (const { asked, outcome: answer } of history) {
    if (answer.as === 'done') for (const user of answer.users ?? []) names.add(user)
    if (asked.do === 'removeDevice' || (asked.do === 'addDevice' && answer.as !== 'open')) names.add(asked.user)
  }
  return names
}

/** Tells whether a call matters: an open change whose result was never read explains nothing, so the search skips it. */
function matters({ asked, outcome: { as } }: RoomCall, seen: ReadonlySet<string>): boolean {
  if (as !== 'open') return true
  if (asked.do === 'update') return seen.has(asked.topic)
  return asked.do !== 'addDevice' || seen.has(asked.user)
}

/** Adds the time of a call; an unanswered call may apply at any later time. */
function timed(call: RoomCall): { call: RoomCall; start: number; end: number } {
  return { call, start: call.start, end: call.outcome.as === 'open' ? Infinity : call.end }
}

/** Groups the calls by room. A list says for each room of its owner whether it exists, and its state. */
function callsOfRooms(history: readonly Call[]): Map<string, RoomCall[]> {
  const rooms = new Map<string, RoomCall[]>()
  const ofOwner = new Map<string, Set<string>>()
  const note = (room: string, call: RoomCall): void => {
    const calls = rooms.get(room)
    if (calls === undefined) rooms.set(room, [call])
    else calls.push(call)
  }
  for (const call of history) {
    const { asked, owner } = call
    if (asked.do === 'list' || asked.do === 'signIn' || asked.room === '') continue
    if (call.outcome.as === 'unasked' || call.outcome.as === 'wrong') continue
    const known = ofOwner.get(owner) ?? new Set()
    ofOwner.set(owner, known.add(asked.room))
    if (call.outcome.as === 'open' && !isChange(call)) continue
    note(asked.room, { ...call, asked })
  }
  for (const call of history) {
    const { asked, outcome: answer } = call
    if (asked.do !== 'list' || answer.as !== 'done') continue
    const listed = new Map((answer.rooms ?? []).map((seen) => [seen.room, seen]))
    for (const room of ofOwner.get(asked.owner) ?? []) {
      const seen = listed.get(room)
      note(room, {
        ...call,
        asked: { do: 'get', room, listed: true },
        outcome: seen === undefined ? { as: 'noRoom' } : { as: 'done', seen },
      })
    }
  }
  return rooms
}
