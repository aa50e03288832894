import type { JanusSession } from '../wire/janus-session.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayEnd, RelayParticipant } from './relay-ends.ts'
import type { RelayRecords } from './relay-records.ts'

/** Operations of a Janus node that relays use. */
export interface RelayNode {
  readonly name: string
  readonly ids: RelayIds
  readonly records: RelayRecords
  /**
   * Returns the controller's relay session on the node, with the handles that still exist in it. Connects if necessary.
   * @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason
   */
  session(signal: AbortSignal): Promise<JanusSession>
  /** Returns whether the node answers now. Concurrent callers share one request. */
  answers(): Promise<boolean>
  /**
   * Returns the participant whose stream a relay handle publishes or receives; undefined if there is none.
   * @throws NodeError; the signal's reason
   */
  participantOn(end: RelayEnd, signal: AbortSignal): Promise<string | undefined>
  /** Detaches a relay handle now, or as soon as the node is reachable again. Never rejects. */
  detach(end: RelayEnd, signal: AbortSignal): Promise<void>
  /**
   * Admits a participant to a room in addition to its people. Returns the fields of the join request, including the
   * name of the room on the node.
   * @throws NodeError; the signal's reason
   */
  admit(participant: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>
  /**
   * Revokes the admission of a participant.
   * @throws NodeError; the signal's reason
   */
  release(participant: RelayParticipant, signal: AbortSignal): Promise<void>
  /**
   * Removes a participant that has no relay connection of this controller. Does nothing if the participant is not in
   * the room.
   * @throws NodeError; the signal's reason
   */
  clear(participant: RelayParticipant, signal: AbortSignal): Promise<void>
  /** Keeps the session and its handles for the next controller when the node goes out of service. */
  leave(): void
}
