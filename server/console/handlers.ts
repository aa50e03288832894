import type { EventActor } from '../../shared/domain/event-actor.ts'
import type { CapabilityMaker } from '../store/capability-record.ts'
import type {
  EditProcedure,
  ProcedureName,
  ProcedureOutput,
  ProcedureParsed,
  procedures,
} from '../../shared/console/contract.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import type { ByImplementation, SubjectRef } from '../../shared/console/procedure-events.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { PlannedChange } from '../store/change-cause.ts'
import type { ConsoleCaller } from './callers.ts'

/**
 * Origin and caller of a call, for the log and for procedures whose result depends on the caller. For a network call,
 * `way` is the kind of authentication.
 */
export type CallOrigin = {
  /** Client address; empty for IPC. */
  client: string
} & (({ transport: 'websocket' | 'rpc' } & ConsoleCaller) | ({ transport: 'ipc' | 'internal' } & LocalCaller))

/** The window of the desktop application, or this program itself. */
type LocalCaller = Omit<ConsoleCaller, 'way'> & { way?: undefined }

/** Input of a handler. The input of an edit has no version, because the dispatch merges it. */
type HandlerInput<N extends ProcedureName> = N extends EditProcedure
  ? WithoutVersion<ProcedureParsed<N>>
  : ProcedureParsed<N>
/** Omits the version from every member of a union. */
type WithoutVersion<I> = I extends unknown ? Omit<I, 'expected_version'> : never

/** Code of one procedure. @throws RefusalError or ApiError to refuse */
export type Handler<N extends ProcedureName> = (
  input: HandlerInput<N>,
  origin: CallOrigin,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

/**
 * Parts of a procedure's event that depend on the stored state, and that the declaration of the procedure leaves to the
 * implementation.
 */
interface SuppliedDependencies<I> {
  subjects: (input: I, store: RecordReader) => readonly SubjectRef[]
  /** @param planned the transaction; undefined: the call changed nothing */
  facts: (input: I, planned: PlannedChange | undefined) => EventParams
}
type Supplied<N extends ProcedureName> = (typeof procedures)[N] extends { event: infer E }
  ? {
      [P in keyof E & keyof SuppliedDependencies<unknown> as E[P] extends ByImplementation
        ? P
        : never]: SuppliedDependencies<ProcedureParsed<N>>[P]
    }
  : unknown

/** Implementation of one procedure: its code, and the parts of its event that the declaration leaves to it. */
type Implementation<N extends ProcedureName> = keyof Supplied<N> extends never
  ? Handler<N>
  : Supplied<N> & { run: Handler<N> }

/** Implementations of procedures, by name. */
export type ProcedureHandlers<N extends ProcedureName = ProcedureName> = { [K in N]: Implementation<K> }

/** Implementation of a procedure whose name is known only at run time. */
export interface AnyImplementation extends Partial<SuppliedDependencies<unknown>> {
  run: (input: unknown, origin: CallOrigin) => unknown
}

/**
 * Returns the implementation of a procedure whose name is known only at run time; undefined if this program has none.
 */
export function implementationOf(handlers: ProcedureHandlers, name: ProcedureName): AnyImplementation | undefined {
  // Indexing the map with a union of names would yield a function that cannot be called.
  const found = (handlers as unknown as Partial<Record<ProcedureName, AnyImplementation | AnyImplementation['run']>>)[
    name
  ]
  return typeof found === 'function' ? { run: found } : found
}

/** Procedures with one of these prefixes. */
export type ProceduresOf<Prefix extends string> = Exclude<Extract<ProcedureName, `${Prefix}.${string}`>, RestoreName>

/** Procedures that restore from the trash, which share one implementation. */
export type RestoreName = `${'rooms' | 'devices' | 'credentials' | 'nodes' | 'wall'}.restore`

/** Returns the actor of a procedure call. */
export function actorOf({ transport, client, account = '' }: CallOrigin): EventActor {
  if (transport === 'internal') return { type: 'system', name: '', address: '' }
  const key = transport === 'ipc' ? 'desktop' : 'console key'
  return { type: 'operator', name: account === '' ? key : account, address: client }
}

/** Returns the maker of capabilities created by a procedure call. */
export function makerOf({ way, accountId, tokenId }: CallOrigin): CapabilityMaker {
  if (way === undefined) return { type: 'site' }
  if (accountId === undefined) return { type: 'key' }
  return { type: 'account', account: accountId, ...(tokenId !== undefined && { token: tokenId }) }
}
