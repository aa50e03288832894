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
 * Marks a part of an event that depends on the stored state: the procedure must supply it, otherwise it does not
 * compile.
 */
export const byImplementation = 'byImplementation'
export type ByImplementation = typeof byImplementation

/**
 * Collections of the store whose changes cause an event. A name that the store does not have does not compile in the
 * recorder.
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
  | 'trash'

/** Part of the caller that events depend on. */
export interface EventCaller {
  accountId?: string
}

type Subjects<I> = (input: I, caller: EventCaller) => readonly SubjectRef[]
/** Returns further facts of an event, never secrets. */
type Facts<I> = (input: I) => EventParams

/**
 * Each transaction is stored with one event for each changed record of these kinds, with the fields before and after.
 */
export interface RecordEvents<I> {
  collection?: undefined
  records: readonly RecordKind[]
  facts?: Facts<I> | ByImplementation
}

/**
 * Each transaction that changes this collection is stored with the events. They are also written if the call had
 * nothing to change.
 */
export interface TransactionEvents<I> {
  records?: undefined
  collection: RecordedCollection | 'any'
  subjects: Subjects<I> | ByImplementation
  facts?: Facts<I> | ByImplementation
  /** Name of the fact with the number of records changed in the collection. */
  counts?: keyof EventParams
  /** Returns the room in which the event happened to a person. */
  room?: (input: I) => string
}

/** Absent fields, by which the compiler distinguishes the declarations of events. */
interface NotStored {
  records?: undefined
  collection?: undefined
}

/** Events of a call that changes nothing in the store, written after the call. */
export interface CallEvents<I, O> extends NotStored {
  /** Subjects from the input. */
  subjects?: Subjects<I> | ByImplementation
  /** Subjects from the output. */
  made?: (output: O) => readonly SubjectRef[]
  /** Keys of the subjects for which a bulk call failed. */
  failed?: (output: O) => readonly string[]
  /** Further facts of the event, never secrets. */
  facts?: (input: I, output: O) => EventParams
  /** Returns the room in which the event happened to a person. */
  room?: (input: I) => string
  /** Kind of the event. Default: `site.changed`. */
  kind?: 'secret.shown' | 'meeting.watched'
  /**
   * Whether the call continues an earlier one. It then writes no event if the same caller made the same call on the
   * same subject in the last five minutes.
   */
  continues?: (input: I) => boolean
  /** Actions on people in `room`, each recorded as an event of its own kind. */
  acts?: { kind: EventKind; people: (output: O) => readonly { user_id: string; user_name: string }[] }
  /** Place of the effect if it is not a record of the store. */
  outside?: 'files' | 'memory' | 'nodes' | 'clients'
}
/** Events of a call with declared subjects. */
type NamedCallEvents<I, O> = CallEvents<I, O> &
  { [K in 'subjects' | 'made' | 'acts']: Required<Pick<CallEvents<I, O>, K>> }['subjects' | 'made' | 'acts']

/** The implementation, or a function that it calls, writes an event of this kind. */
export interface RecordedAs extends NotStored {
  readonly recordedAs: EventKind
}
/** Reason why the call writes no event. */
export interface Unrecorded extends NotStored {
  readonly unrecorded: string
}

/** Events of a procedure that stores nothing. */
export type ActEvents<I, O> = RecordEvents<I> | TransactionEvents<I> | NamedCallEvents<I, O> | RecordedAs | Unrecorded
/**
 * Events of a procedure whose effect outlives the caller's session: it always writes one. Stored with the change,
 * unless the effect is outside the store.
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
