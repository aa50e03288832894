import type { AskedOfRoom, Outcome } from './history.ts'

/** State of one room at one moment of a possible order of its calls. */
export interface RoomState {
  readonly there: boolean
  readonly topic: string
  /** Its number; 0: not read yet. */
  readonly id: number
  /** Numbers of deleted rooms of this name. */
  readonly gone: readonly number[]
  /** userIds, sorted. */
  readonly devices: readonly string[]
}

/** State before any call. */
export const noRoom: RoomState = { there: false, topic: '', id: 0, gone: [], devices: [] }

/** Reason why a call cannot have happened in a state. */
export class Impossible {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** Returns the state after a call with this outcome. An open change applies as requested. A list counts as one `get` per room. */
export function after(state: RoomState, asked: AskedOfRoom, outcome: Outcome): RoomState | Impossible {
  if (outcome.as === 'noRoom') return state.there ? new Impossible('the room is there') : state
  if (outcome.as === 'exists') return existing(state, asked)
  if (asked.do === 'devices') return sameDevices(state, outcome)
  if (asked.do === 'create') {
    if (state.there) return new Impossible('the room is there already')
    return { ...state, there: true, topic: asked.topic }
  }
  // The room, and the device with it, may have been deleted during the removal.
  if (!state.there && outcome.as !== 'noDevice') return new Impossible('the room is not there')
  switch (asked.do) {
    case 'update':
      return { ...state, topic: asked.topic }
    case 'delete':
      return { ...noRoom, gone: state.id === 0 ? state.gone : [...state.gone, state.id] }
    case 'get':
      return read(state, outcome)
    case 'users':
      return state
    case 'addDevice':
      if (state.devices.includes(asked.user)) return new Impossible('the device is there already')
      return { ...state, devices: [...state.devices, asked.user].sort() }
    case 'removeDevice':
      return withoutDevice(state, asked.user, outcome)
  }
}

/** Makes a key of the state: equal states have equal keys. */
export function nameOf({ there, topic, id, gone, devices }: RoomState): string {
  return `${there ? `${id}:${topic}` : '-'}|${gone.join()}|${devices.join()}`
}

function existing(state: RoomState, asked: AskedOfRoom): RoomState | Impossible {
  const there = asked.do === 'addDevice' ? state.devices.includes(asked.user) : state.there
  return there ? state : new Impossible('there is none yet')
}

function read(state: RoomState, outcome: Outcome): RoomState | Impossible {
  const seen = outcome.as === 'done' ? outcome.seen : undefined
  if (seen === undefined) return state
  if (seen.topic !== state.topic) return new Impossible(`its topic is ${state.topic}`)
  if (state.id !== 0 && seen.id !== state.id) return new Impossible(`its number is ${state.id}`)
  if (state.gone.includes(seen.id)) return new Impossible('its number is that of a room that was deleted')
  return state.id === 0 ? { ...state, id: seen.id } : state
}

function sameDevices(state: RoomState, outcome: Outcome): RoomState | Impossible {
  const users = outcome.as === 'done' ? outcome.users : undefined
  if (users === undefined || users.toSorted().join() === state.devices.join()) return state
  return new Impossible(`its devices are ${state.devices.join() || 'none'}`)
}

function withoutDevice(state: RoomState, user: string, outcome: Outcome): RoomState | Impossible {
  const there = state.devices.includes(user)
  if (outcome.as === 'noDevice') return there ? new Impossible('the device is there') : state
  if (!there) return new Impossible('the device is not there')
  return { ...state, devices: state.devices.filter((other) => other !== user) }
}
