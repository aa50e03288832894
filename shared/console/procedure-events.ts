import type { EventParams } from '../domain/event-values.ts'
import type { EventKind, EventSubject } from '../domain/events.ts'
import type { RecordKind } from '../domain/record-fields.ts'

/** Subject of an event by type and id; the recorder looks up its name. */
export type SubjectRef = Pick<EventSubject, 'type' | 'id'>

export const subject = {
  room: (id: string): SubjectRef => ({ type: 'room', id }),
  device: (id: string): SubjectRef => ({ type: 'device', id }),
  node: (id: string): SubjectRef => ({ type: 'node', id }),
  credential: (id: string): SubjectRef => ({ type: 'credential', id }),
  backup: (id: string): SubjectRef => ({ type: 'backup', id }),
  account: (id: string): SubjectRef => ({ type: 'account', id }),
  person: (id: string): SubjectRef => ({ type: 'person', id }),
  lab: (id: string): SubjectRef => ({ type: 'lab', id }),
  settings: { type: 'settings', id: 'site' } as SubjectRef,
  site: { type: 'site', id: '' } as SubjectRef,
}

/**
 * Marks a part of an event that depends on the stored state. The implementation of the procedure must supply this part;
 * otherwise it does not compile.
 */
export const byImplementation = 'byImplementation'
export type ByImplementation = typeof byImplementation

/**
 * Collections of the store whose changes cause an event. A name that is not a collection of the store does not compile
 * in the recorder.
 */
type RecordedCollection =
  | 'access_tokens'
  | 'account_sessions'
  | 'capabilities'
  | 'lives'
  | 'recording_keeps'
  | 'recordings'
  | 'rooms'
  | 'sessions'
  | 'test_cameras'
  | 'test_people'
  | 'trash'

/** Properties of the caller used for events. */
export interface EventCaller {
  accountId?: string
}

type Subjects<I> = (input: I, caller: EventCaller) => readonly SubjectRef[]
/** Function that returns further facts of an event. Facts must not contain secrets. */
type Facts<I> = (input: I) => EventParams

/**
 * Events of a procedure that changes records of these kinds: each transaction stores one event for each changed record,
 * with the fields before and after.
 */
export interface RecordEvents<I> {
  collection?: undefined
  records: readonly RecordKind[]
  facts?: Facts<I> | ByImplementation
}

/**
 * Events of a procedure that changes a collection: each transaction that changes the collection also stores the events.
 * If the call changes nothing, the events are written nevertheless.
 */
export interface TransactionEvents<I> {
  records?: undefined
  collection: RecordedCollection | 'any'
  subjects: Subjects<I> | ByImplementation
  facts?: Facts<I> | ByImplementation
  /** Name of the fact with the number of records changed in the collection. */
  counts?: keyof EventParams
  /** Returns the room of a person who is the subject of the event. */
  room?: (input: I) => string
}

/** Fields that must be absent, by which the compiler distinguishes declarations of events. */
interface NotStored {
  records?: undefined
  collection?: undefined
}

/** Events of a call that changes nothing in the store, written after the call. */
export interface CallEvents<I, O> extends NotStored {
  /** Returns the subjects, from the input. */
  subjects?: Subjects<I> | ByImplementation
  /** Returns the subjects, from the output. */
  made?: (output: O) => readonly SubjectRef[]
  /** Returns the keys of the subjects for which a bulk call failed. */
  failed?: (output: O) => readonly string[]
  /** Returns further facts of the event. Facts must not contain secrets. */
  facts?: (input: I, output: O) => EventParams
  /** Returns the room of a person who is the subject of the event. */
  room?: (input: I) => string
  /** Kind of the event. Default: `site.changed`. */
  kind?: 'secret.shown' | 'meeting.watched'
  /**
   * Whether the call continues an earlier call. In this case it writes no event if the same caller made the same call
   * on the same subject in the last five minutes.
   */
  continues?: (input: I) => boolean
  /** Actions on people in `room`, each recorded as an event of its own kind. */
  acts?: { kind: EventKind; people: (output: O) => readonly { user_id: string; user_name: string }[] }
  /** Place where the call has its effect, other than the store. */
  outside?: 'files' | 'memory' | 'nodes' | 'clients'
}
/** Events of a call with declared subjects. */
type NamedCallEvents<I, O> = CallEvents<I, O> &
  { [K in 'subjects' | 'made' | 'acts']: Required<Pick<CallEvents<I, O>, K>> }['subjects' | 'made' | 'acts']

/** Declaration that the implementation, or a function that it calls, writes an event of this kind. */
export interface RecordedAs extends NotStored {
  readonly recordedAs: EventKind
}
/** Declaration that the call writes no event, with the reason. */
export interface Unrecorded extends NotStored {
  readonly unrecorded: string
}

/** Events of a procedure that stores nothing. */
export type ActEvents<I, O> = RecordEvents<I> | TransactionEvents<I> | NamedCallEvents<I, O> | RecordedAs | Unrecorded
/**
 * Events of a procedure whose effect outlives the caller's session. Such a procedure always writes an event. The event
 * is stored with the change, unless the effect is outside the store.
 */
export type LastingEvents<I, O> =
  | RecordEvents<I>
  | TransactionEvents<I>
  | (NamedCallEvents<I, O> & Required<Pick<CallEvents<I, O>, 'outside'>>)
  | RecordedAs
/** Events of a procedure that changes the site. */
export type ChangeEvents<I, O> = LastingEvents<I, O> | Unrecorded

/** Declares one event for each changed record of these kinds. */
export const changes = <K extends RecordKind>(...records: K[]): { records: K[] } => ({ records })
export const recordedAs = (kind: EventKind): RecordedAs => ({ recordedAs: kind })
export const unrecorded = (reason: string): Unrecorded => ({ unrecorded: reason })
