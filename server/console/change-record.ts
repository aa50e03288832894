import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { EventParams } from '../../shared/console/event-values.ts'
import type { EventKind, EventSubject } from '../../shared/console/events.ts'
import type { ProcedureOf } from '../../shared/console/procedure-rules.ts'
import type { RecordType } from '../event-log/site-state.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { PlannedChange } from '../store/change-cause.ts'
import type { CollectionName } from '../store/store.ts'
import type { CallOrigin } from './handlers.ts'

/** A thing by its type and key; its name is looked up. */
export type Named = Pick<EventSubject, 'type' | 'id'>

/** Further facts of an event; never a secret. @param planned the transaction; undefined: the call had nothing to change */
type StoredFacts<N extends ProcedureName> = (
  input: ProcedureParsed<N>,
  planned: PlannedChange | undefined,
) => EventParams

/** Events of a procedure that changes records: each transaction is stored with one event for each record of these types that it changes, with the fields before and after. */
interface StoredRecords<N extends ProcedureName> {
  records: readonly RecordType[]
  facts?: StoredFacts<N>
}

/** Event of a procedure whose change is no record of its subject: each transaction that changes this collection is stored with it. A call that had nothing to change leaves it, too. */
interface StoredAct<N extends ProcedureName> {
  within: CollectionName | 'any'
  about: (input: ProcedureParsed<N>, origin: CallOrigin, before: RecordReader) => readonly Named[]
  facts?: StoredFacts<N>
  /** The room in which it happened to a person. */
  room?: (input: ProcedureParsed<N>) => string
}

/** Events of a procedure that changes nothing in the store; they are written after the call. */
interface CallRecord<N extends ProcedureName> {
  /** Subjects that the input names. */
  about?: (input: ProcedureParsed<N>, origin: CallOrigin, store: RecordReader) => readonly Named[]
  /** Subjects that the output names. */
  makes?: (output: ProcedureOutput<N>) => readonly Named[]
  /** Subjects of a bulk call for which it failed. */
  failed?: (output: ProcedureOutput<N>) => readonly string[]
  /** Further facts for the log; never a secret. */
  params?: (input: ProcedureParsed<N>, output: ProcedureOutput<N>) => EventParams
  /** The room in which it happened to a person. */
  room?: (input: ProcedureParsed<N>) => string
  /** Kind of the event. Default: `site.changed`. */
  kind?: 'secret.shown' | 'meeting.watched'
  /** Whether the call continues an act: it is recorded unless the same caller made such a call on the same record a moment before. */
  goesOn?: (input: ProcedureParsed<N>) => boolean
  /** An act on people in `room`, recorded as an event of its own kind for each of them. */
  acts?: { kind: EventKind; people: (output: ProcedureOutput<N>) => readonly { user_id: string; user_name: string }[] }
}

/** Where a procedure that changes the site has its effect, if not in the store. */
interface OutsideStore {
  outside: 'files' | 'memory' | 'nodes' | 'clients'
}

/** The call is recorded elsewhere: the handler, or what it calls, writes an event of this kind. */
export interface RecordedAs {
  readonly recordedAs: EventKind
}
/** The call leaves no record, for a reason. */
interface Unrecorded {
  readonly unrecorded: string
}

export const recordedAs = (kind: EventKind): RecordedAs => ({ recordedAs: kind })
export const unrecorded = (reason: string): Unrecorded => ({ unrecorded: reason })

/** A record that names its subject. */
type WithSubject<R> = R &
  { [K in 'about' | 'makes' | 'acts']: Required<Pick<R, K & keyof R>> }['about' | 'makes' | 'acts']

/**
 * Record of each procedure that is more than a read. The events of one that changes the site are stored with the change, unless it says where else its effect is. What outlives the caller's
 * session always leaves an event.
 */
export type ChangeRecords = {
  readonly [N in Exclude<ProcedureName, ProcedureOf<'read'>>]:
    | StoredRecords<N>
    | StoredAct<N>
    | (WithSubject<CallRecord<N>> & (N extends ProcedureOf<'act'> ? unknown : OutsideStore))
    | RecordedAs
    | (N extends ProcedureOf<'lasting'> ? never : Unrecorded)
}

/** Any of them, for a name that is only known at run time. */
export type AnyRecord =
  | StoredRecords<'rooms.close'>
  | StoredAct<'rooms.close'>
  | CallRecord<'rooms.close'>
  | RecordedAs
  | Unrecorded
