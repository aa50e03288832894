import type { MessageOf } from '../../../shared/authorization/signal-rights.ts'
import { type FromPerson, fromPersonSchema, signalVersion } from '../../../shared/media/signal.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Problem } from '../base/problem.ts'
import * as hostActs from '../rooms/host-acts.ts'
import type { MediaRooms, Place } from '../rooms/media-rooms.ts'
import * as ownActs from '../rooms/own-acts.ts'
import { lowerHand, setHand } from '../rooms/raised-hands.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'

/** Messages of a person on a signalling connection: parsing, rate limit, and handling in a room. */

/** @throws Problem badRequest */
export function parseMessage(text: string): FromPerson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Problem('badRequest', 'The message is not JSON.')
  }
  const message = fromPersonSchema.safeParse(value)
  if (message.success) return message.data
  const [issue] = message.error.issues
  throw new Problem('badRequest', `The message is not valid: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`)
}

/** @throws Problem badRequest */
export function assertVersion(version: number): void {
  if (version !== signalVersion)
    throw new Problem('badRequest', `This node speaks version ${signalVersion}: load the page again.`)
}

/**
 * Maximum number of messages per window: 100 a second on average. All may come at once, because candidates for a full
 * room come in bursts.
 */
const maxMessages = 600
const windowMs = 6_000
/** Costs, in messages, of types that are sent to the whole room or affect every stream in it; other types cost 1. */
const costs: Partial<Record<FromPerson['type'], number>> = {
  chat: 4,
  state: 4,
  mute: 4,
  remove: 4,
  shown: 4,
  hand: 20,
  react: 10,
  lower_hand: 4,
  mute_all: 100,
  lock: 20,
  invite: 20,
  record: 20,
  let_in: 4,
}
/** Key of the only counter. */
const messages = 'messages'

/** Limits the messages received on one signalling connection. Each method returns false if the limit is exceeded. */
export class MessageLimit {
  readonly #limit = new RateLimit({ max: maxMessages, windowMs, remembered: 1 })

  /** Counts a message of any kind, including pings. */
  take(): boolean {
    return this.#limit.take(messages)
  }

  /** Counts the rest of a parsed message's cost, of which `take` has counted 1. */
  takeCostOf({ type }: FromPerson): boolean {
    let isWithin = true
    for (let count = 1; count < (costs[type] ?? 1); count++) isWithin = this.take() && isWithin
    return isWithin
  }
}

/** Sender of a request and the dependencies of its handlers. */
interface Requester extends Place {
  rooms: MediaRooms
  requests: RoomRequests
  /** Reports a refusal after an asynchronous request. */
  refuse: (error: unknown) => void
  close: () => void
}

/** Performs a request of a member who has the right to make it. @throws Problem */
export function handleRequest(
  { room, member, rooms, requests, refuse, close }: Requester,
  message: MessageOf<'member' | 'host'>,
): void {
  switch (message.type) {
    case 'leave':
      room.attendance.remove(member.user.userId, 'left')
      return close()
    case 'ping':
      return member.signalling.send({ type: 'pong', id: message.id })
    case 'chat':
      return ownActs.say(room, member, message.text)
    case 'state':
      return ownActs.setState(room, member, message.audio, message.video)
    case 'shown':
      return member.watched.show(new Map(message.streams.map(({ stream_id, height }) => [stream_id, height])))
    case 'mute':
      return hostActs.mute(room, member, message.user_id, message.kind)
    case 'remove':
      return hostActs.remove(rooms, room, member, message.user_id)
    case 'hand':
      return setHand(room, member, message.raised)
    case 'react':
      return room.reactions.add(member, message.reaction)
    case 'lower_hand':
      return lowerHand(room, member, message.user_id)
    case 'mute_all':
      return hostActs.muteAll(room, member)
    case 'lock':
      return void hostActs.lock(requests, room, member, message.locked).catch(refuse)
    case 'invite':
      return void hostActs.invite(requests, room, member).catch(refuse)
    case 'record':
      return void hostActs.record(requests, room, member, message.on).catch(refuse)
    case 'end_meeting':
      return hostActs.endMeeting(room, member)
    case 'let_in':
      return hostActs.letIn(room, member, message.user_id)
    case 'turn_away':
      return hostActs.turnAway(room, member, message.user_id)
    case 'relay':
      return ownActs.relay(room, member, message.to, message.payload)
  }
}
