import type { Person, WaitingPerson } from '../../../shared/media/signal.ts'
import type { Ending, Opening } from './ending.ts'

/** State of one visit, as the page shows it. */
export class RoomView {
  phase: 'lobby' | 'joining' | 'waiting' | 'in' | 'ended' = 'lobby'
  /**
   * Event that the user waits for: `host`: admission by a present host; `anyHost`: admission by the operator, or by a
   * host who has not joined yet; `opening`: the opening of the room.
   */
  waitingFor: 'host' | 'anyHost' | 'opening' = 'host'
  /** Last message of the operator to a waiting user. */
  letter: { from: string; text: string } | null = null
  /** Opening of a scheduled room; null: none, or unknown. */
  opening: Opening | null = null
  /** Scheduled end of the meeting, and latest closing time of the room, in milliseconds since the epoch; null: none. */
  end: { at: number; closesAt: number } | null = null
  /** Announced restart of the server, in milliseconds since the epoch; null: none. */
  restartsAt: number | null = null
  /** Time of the next attempt, in milliseconds since the epoch; 0 during an attempt. */
  retryAt = 0
  ending: Ending | null = null
  /** The user was in the room before the end. */
  wasInside = false
  /** The signalling connection is open. */
  connected = false
  /** The signalling connection is lost, and the node announced its return. */
  restarting = false
  you: Person | null = null
  roomId = ''
  /** Topic of the room; empty: unknown. */
  topic = ''
  /** The room's number is enough to join it. */
  byNumber = false
  locked = false
  /** Users of the room are recorded. */
  recording = false
  /** Hosts may start and stop the recording. */
  mayRecord = false
  peerToPeer = false
  /** Waiting guests, as reported to hosts. */
  guests: readonly WaitingPerson[] = []
  /** Maximum number of visible tiles. */
  maxTiles = 12
  unread = 0
  /** The chat is in view, so nothing is unread. */
  chatOpen = false

  /** This user is a host. */
  get isHost(): boolean {
    return this.you?.role === 'host'
  }

  /** This user's hand is raised. */
  get handRaised(): boolean {
    return (this.you?.hand ?? 0) > 0
  }
}
