import { shallowReactive } from 'vue'
import type { Person, WaitingPerson } from '../../../shared/media/signal.ts'
import type { Ending, Opening } from './ending.ts'

export interface RoomView {
  phase: 'lobby' | 'joining' | 'waiting' | 'in' | 'ended'
  /**
   * Event that the user waits for: `host`: admission by a present host; `anyHost`: admission by the operator, or by a
   * host who has not joined yet; `opening`: the opening of the room.
   */
  waitingFor: 'host' | 'anyHost' | 'opening'
  /** Last message of the operator to a waiting user. */
  letter: { from: string; text: string } | null
  /** Opening of a scheduled room; null: none, or unknown. */
  opening: Opening | null
  /** Scheduled end of the meeting, and latest closing time of the room, in milliseconds since the epoch; null: none. */
  end: { at: number; closesAt: number } | null
  /** Announced restart of the server, in milliseconds since the epoch; null: none. */
  restartsAt: number | null
  /** Time of the next attempt, in milliseconds since the epoch; 0 during an attempt. */
  retryAt: number
  ending: Ending | null
  /** The user was in the room before the end. */
  wasInside: boolean
  /** The signalling connection is open. */
  connected: boolean
  /** The signalling connection is lost, and the node announced its return. */
  restarting: boolean
  you: Person | null
  roomId: string
  /** Topic of the room; empty: unknown. */
  topic: string
  /** The room's number is enough to join it. */
  byNumber: boolean
  locked: boolean
  /** Users of the room are recorded. */
  recording: boolean
  /** Hosts may start and stop the recording. */
  mayRecord: boolean
  peerToPeer: boolean
  /** Waiting guests, as reported to hosts. */
  guests: readonly WaitingPerson[]
  /** Maximum number of visible tiles. */
  maxTiles: number
  unread: number
  /** The chat is in view, so nothing is unread. */
  chatOpen: boolean
}

export function freshView(): RoomView {
  return shallowReactive<RoomView>({
    phase: 'lobby',
    waitingFor: 'host',
    letter: null,
    opening: null,
    end: null,
    restartsAt: null,
    retryAt: 0,
    ending: null,
    wasInside: false,
    connected: false,
    restarting: false,
    you: null,
    roomId: '',
    topic: '',
    byNumber: false,
    locked: false,
    recording: false,
    mayRecord: false,
    peerToPeer: false,
    guests: [],
    maxTiles: 12,
    unread: 0,
    chatOpen: false,
  })
}
