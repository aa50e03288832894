import type { z } from 'zod'
import type { EventName } from './event-names.ts'
import type { InputNeeds, OpenAccess, PersonAccess, ProcedureAccess, SiteBefore } from './procedure-access.ts'
import type { ActEvents, ChangeEvents, LastingEvents } from './procedure-events.ts'
import type { RecordRef } from '../domain/record-fields.ts'

/**
 * Common parts of the declaration of a procedure. A procedure is an action or query of an operator. It behaves
 * identically over IPC, WebSocket and `POST /rpc/<name>`.
 */
interface Declaration<I extends z.ZodType, O extends z.ZodType> {
  summary: string
  input: I
  output: O
  access: ProcedureAccess
  /** Returns additional requirements of a call, depending on its input. */
  needs?: (input: z.output<I>, before: SiteBefore) => InputNeeds
}

/**
 * Declaration of an edit: a function that returns the record edited by a call; undefined: the call creates a record.
 * Requires an input with `seenVersion`.
 */
type Edits<I extends z.ZodType> = 'expected_version' extends keyof z.output<I>
  ? (input: z.output<I>) => RecordRef | undefined
  : never
/**
 * Declaration that a procedure is not an edit, with the reason, although its input contains the key of a record and one
 * of its fields.
 */
interface NoEdit {
  readonly noEdit: string
}
export const noEdit = (reason: string): NoEdit => ({ noEdit: reason })

/** Parts of the declaration of a procedure that changes the store or has another lasting effect. */
interface Stores<E, X> {
  /** Events written by the procedure. */
  event: E
  /**
   * Returns the edited record. The dispatch merges each call of an edit into the current record, or rejects it on a
   * conflict. Absent fields of the input stay unchanged.
   */
  edits?: X
  /** Whether an edit without a version replaces the whole record: absent fields get their defaults. */
  whole?: true
  /** Whether a replica forwards the call to the leader. A replica rejects all other calls of this kind. */
  passedOn?: true
}

type Stored<I extends z.ZodType, O extends z.ZodType, E, X, F extends 'change' | 'lasting'> = Declaration<I, O> & {
  effect: F
  passedOn: boolean
  event: E
  edits?: X
}

/**
 * Access to a procedure with a lasting effect. Without `person`, tokens may call it; whether a session may call it
 * depends on the lifetime of the created access.
 */
type LastingAccess<I extends z.ZodType> =
  | { access: PersonAccess }
  | {
      access: OpenAccess
      /**
       * Whether tokens may call it: the created access ends with the token, or the input determines whether a person is
       * required.
       */
      tokens: true
      /**
       * Returns the lifetime of the created access, in milliseconds. If it exceeds the setting `media.link_life_ms`, a
       * session requires a recently entered password.
       */
      lifetime: (input: z.output<I>, before: SiteBefore) => number
    }

/** Parts of the declaration of a procedure that changes nothing. */
interface Reads {
  /**
   * Events after which the output may differ. A page that shows the output calls the procedure again
   * (`renderer/console/live/useReading.ts`).
   */
  refreshOn?: readonly EventName[]
}

/**
 * Declares a procedure that changes nothing. Watching a stream and testing a camera count as reads. Replicas forward
 * the call.
 */
/* @__NO_SIDE_EFFECTS__ */
export function read<I extends z.ZodType, O extends z.ZodType>(declared: Declaration<I, O> & Reads) {
  return { ...declared, effect: 'read', passedOn: true } as const
}

/**
 * Declares a procedure that reveals a secret, admits people or connects to other hosts, but stores nothing. Replicas
 * forward the call.
 */
/* @__NO_SIDE_EFFECTS__ */
export function act<I extends z.ZodType, O extends z.ZodType, const E extends ActEvents<z.output<I>, z.output<O>>>(
  declared: Declaration<I, O> & { event: E },
) {
  return { ...declared, effect: 'act', passedOn: true } as const
}

/** Declares a procedure that changes the site. */
/* @__NO_SIDE_EFFECTS__ */
export function change<
  I extends z.ZodType,
  O extends z.ZodType,
  const E extends ChangeEvents<z.output<I>, z.output<O>>,
  X extends Edits<I> | NoEdit | undefined,
>(declared: Declaration<I, O> & Stores<E, X>): Stored<I, O, E, X, 'change'> {
  return { passedOn: false, ...declared, effect: 'change' }
}

/**
 * Declares a procedure whose effect outlives the caller's session: it creates or restores access, or redirects people,
 * media or data.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lasting<
  I extends z.ZodType,
  O extends z.ZodType,
  const E extends LastingEvents<z.output<I>, z.output<O>>,
  X extends Edits<I> | NoEdit | undefined,
>(declared: Declaration<I, O> & LastingAccess<I> & Stores<E, X>): Stored<I, O, E, X, 'lasting'> {
  return { passedOn: false, ...declared, effect: 'lasting' }
}

/** Declaration whose name is known only at run time. */
export interface AnyProcedure {
  access: ProcedureAccess
  needs?: (input: unknown, before: SiteBefore) => InputNeeds
  lifetime?: (input: unknown, before: SiteBefore) => number
  event?: ActEvents<unknown, unknown>
  edits?: ((input: unknown) => RecordRef | undefined) | NoEdit
  whole?: true
}
