import type { JanusSession } from '../wire/janus-session.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayEnd, RelayParticipant } from './relay-ends.ts'
import type { RelayRecords } from './relay-records.ts'

/** Needs of relays from a Janus node. */
export interface RelayNode {
  readonly name: string
  readonly ids: RelayIds
  /** Records of the relays of all nodes. */
  readonly records: RelayRecords
  /** A session of the controller on it, with what lives in it since before; connects where it must. @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason */
  session(signal: AbortSignal): Promise<JanusSession>
  /** Whether it answers now. Asked by many at once it is one question. */
  answers(): Promise<boolean>
  /** The participant whose stream a handle of ours publishes or is sent; undefined: none. @throws NodeError; the signal's reason */
  participantOn(end: RelayEnd, signal: AbortSignal): Promise<string | undefined>
  /** Takes a handle of ours away, now or as soon as it is reached again. Never rejects. */
  detach(end: RelayEnd, signal: AbortSignal): Promise<void>
  /** Fields of the join of a participant, with which the room lets it in beside its people; among them what the room is called there. @throws NodeError; the signal's reason */
  admit(participant: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>
  /** It is not let in any more. @throws NodeError; the signal's reason */
  release(participant: RelayParticipant, signal: AbortSignal): Promise<void>
  /** Puts a participant out who is there without a connection of ours; nobody there is no error. @throws NodeError; the signal's reason */
  clear(participant: RelayParticipant, signal: AbortSignal): Promise<void>
  /** Leaves its session and handles for the next controller when it goes out of service. */
  leave(): void
}
