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
import type { Caller } from './callers.ts'

/** Origin and caller of a call: for the log, and for procedures that answer by caller. A call over the network says how its caller showed who they are. */
export type CallOrigin = {
  /** Client address; empty for IPC. */
  client: string
} & (({ transport: 'websocket' | 'rpc' } & Caller) | ({ transport: 'ipc' | 'internal' } & LocalCaller))

/** The desktop's own window, or this program. */
type LocalCaller = Omit<Caller, 'way'> & { way?: undefined }

/** Input of a handler: that of an edit has no version, because the dispatch merges it. */
type HandlerInput<N extends ProcedureName> = N extends EditProcedure
  ? WithoutVersion<ProcedureParsed<N>>
  : ProcedureParsed<N>
/** Of each part of a union. */
type WithoutVersion<I> = I extends unknown ? Omit<I, 'expected_version'> : never

/** The code of one procedure. @throws RefusalError or ApiError to refuse */
export type Handler<N extends ProcedureName> = (
  input: HandlerInput<N>,
  origin: CallOrigin,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

/** Parts of the event of a procedure that depend on the stored state: those that its declaration leaves to the implementation. */
interface SuppliedParts<I> {
  subjects: (input: I, store: RecordReader) => readonly SubjectRef[]
  /** @param planned the transaction; undefined: the call had nothing to change */
  facts: (input: I, planned: PlannedChange | undefined) => EventParams
}
type Supplied<N extends ProcedureName> = (typeof procedures)[N] extends { event: infer E }
  ? {
      [P in keyof E & keyof SuppliedParts<unknown> as E[P] extends ByImplementation ? P : never]: SuppliedParts<
        ProcedureParsed<N>
      >[P]
    }
  : unknown

/** The implementation of one procedure: its code, and parts of its event that the declaration leaves to it. */
type Implementation<N extends ProcedureName> = keyof Supplied<N> extends never
  ? Handler<N>
  : Supplied<N> & { run: Handler<N> }

/** The implementations of some procedures, by name. */
export type Handlers<N extends ProcedureName = ProcedureName> = { [K in N]: Implementation<K> }

/** An implementation whose name is known only at run time. */
export interface AnyImplementation extends Partial<SuppliedParts<unknown>> {
  run: (input: unknown, origin: CallOrigin) => unknown
}

/** The implementation of a procedure whose name is known only at run time; undefined: this program has none. */
export function implementationOf(handlers: Handlers, name: ProcedureName): AnyImplementation | undefined {
  // The map is typed by name.
  const found = (handlers as unknown as Partial<Record<ProcedureName, AnyImplementation | AnyImplementation['run']>>)[
    name
  ]
  return typeof found === 'function' ? { run: found } : found
}

/** The procedures whose names begin with one of these words. */
export type ProceduresOf<Prefix extends string> = Exclude<Extract<ProcedureName, `${Prefix}.${string}`>, RestoreName>

/** Procedures that restore from the trash, which are implemented together. */
export type RestoreName = `${'rooms' | 'devices' | 'credentials' | 'nodes' | 'wall'}.restore`

/** Actor of a procedure call. */
export function actorOf({ transport, client, account = '' }: CallOrigin): EventActor {
  if (transport === 'internal') return { type: 'system', name: '', address: '' }
  const key = transport === 'ipc' ? 'desktop' : 'console key'
  return { type: 'operator', name: account === '' ? key : account, address: client }
}

/** Maker of what a procedure call makes. */
export function makerOf({ way, accountId, tokenId }: CallOrigin): CapabilityMaker {
  if (way === undefined) return { type: 'site' }
  if (accountId === undefined) return { type: 'key' }
  return { type: 'account', account: accountId, ...(tokenId !== undefined && { token: tokenId }) }
}
