import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { EventFields, EventKind, EventSubject } from '../../shared/console/events.ts'
import type { ProcedureOf } from '../../shared/console/procedure-rules.ts'
import type { Store } from '../store/store.ts'
import type { CallOrigin } from './handlers.ts'

/** A thing by its type and key; its name is looked up. */
export type Named = Pick<EventSubject, 'type' | 'id'>

/** Record in the event log of a procedure's change. */
export interface ChangeRecord<N extends ProcedureName> {
  /** Names the records that the procedure changes, as far as its input names them: their state before and after is compared. */
  changes?: (input: ProcedureParsed<N>, origin: CallOrigin, store: Pick<Store, 'get'>) => readonly Named[]
  /** Names the records in the output: those that were created. */
  makes?: (output: ProcedureOutput<N>) => readonly Named[]
  /** Records of a bulk change that were not changed. */
  failed?: (output: ProcedureOutput<N>) => readonly string[]
  /** Further facts for the log; never a secret. */
  params?: (input: ProcedureParsed<N>, output: ProcedureOutput<N>) => EventFields
  /** The room in which it happened to a person. */
  room?: (input: ProcedureParsed<N>) => string
  /** A secret was shown, nothing was changed. */
  shows?: true
  /** People were watched who do not see it, nothing was changed. */
  watches?: true
  /** Whether the call continues an act: it is recorded unless the same caller made such a call on the same record a moment before. */
  goesOn?: (input: ProcedureParsed<N>) => boolean
  /** Recorded even if no stored record changed. */
  always?: true
  /** An act on people in `room`, recorded as an event of its own kind for each of them. */
  acts?: { kind: EventKind; people: (output: ProcedureOutput<N>) => readonly { user_id: string; user_name: string }[] }
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
  { [K in 'changes' | 'makes' | 'acts']: Required<Pick<R, K & keyof R>> }['changes' | 'makes' | 'acts']

/** Record of each procedure that is more than a read. What outlives the caller's session always leaves an event. */
export type ChangeRecords = {
  readonly [N in Exclude<ProcedureName, ProcedureOf<'read'>>]:
    | WithSubject<ChangeRecord<N>>
    | RecordedAs
    | (N extends ProcedureOf<'lasting'> ? never : Unrecorded)
}
