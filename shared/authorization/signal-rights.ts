import type { FromPerson, ToPerson } from '../media/signal.ts'
import type { RoomStanding } from './room-standing.ts'

/** Standings of users in a room. */
const people = ['member', 'host'] as const
const host = ['host'] as const
const waitingOrIn = ['waiting', 'member', 'host'] as const

/**
 * Standings that may send each message of the room page. A new message without an entry here does not compile. The node
 * rejects a message from all other standings.
 */
export const signalSenders = {
  join: ['stranger'],
  resume: ['stranger'],
  leave: waitingOrIn,
  ping: waitingOrIn,
  chat: people,
  state: people,
  shown: people,
  hand: people,
  react: people,
  relay: people,
  mute: host,
  remove: host,
  lower_hand: host,
  mute_all: host,
  lock: host,
  record: host,
  end_meeting: host,
  invite: host,
  let_in: host,
  turn_away: host,
} as const satisfies Record<FromPerson['type'], readonly RoomStanding[]>

/**
 * Standings to which each message of the node may be sent. The node sends a message to no other standing, even if other
 * code requests it.
 */
const signalReceivers = {
  refused: ['stranger', 'waiting'],
  waiting: ['waiting'],
  waiting_message: ['waiting'],
  nodes: waitingOrIn,
  pong: waitingOrIn,
  removed: waitingOrIn,
  joined: people,
  person_joined: people,
  person_changed: people,
  person_left: people,
  hand_lowered: people,
  stream_added: people,
  stream_removed: people,
  stream_size: people,
  speaking: people,
  reactions: people,
  chat: people,
  muted: people,
  room_changed: people,
  restart: people,
  recording: people,
  relay: people,
  error: people,
  waiting_list: host,
  invitation: host,
} as const satisfies Record<ToPerson['type'], readonly RoomStanding[]>

/** Messages that a user with one of these standings may send. */
export type MessageOf<S extends RoomStanding, M extends FromPerson = FromPerson> = M extends FromPerson
  ? S & (typeof signalSenders)[M['type']][number] extends never
    ? never
    : M
  : never

/** Whether a user with this standing may send a message. */
export function maySend<S extends RoomStanding>(standing: S, message: FromPerson): message is MessageOf<S> {
  const senders: readonly RoomStanding[] = signalSenders[message.type]
  return senders.includes(standing)
}

/** Whether a user with this standing may receive a message. */
export function mayReceive(standing: RoomStanding, type: ToPerson['type']): boolean {
  const receivers: readonly RoomStanding[] = signalReceivers[type]
  return receivers.includes(standing)
}
