import type { EditProcedure, ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
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

/** The code of one procedure. @throws ConsoleError or ApiError to refuse */
export type Handler<N extends ProcedureName> = (
  input: HandlerInput<N>,
  origin: CallOrigin,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

/** The code of some procedures, by name. */
export type Handlers<N extends ProcedureName = ProcedureName> = { [K in N]: Handler<K> }

/** The procedures whose names begin with one of these words. */
export type ProceduresOf<Prefix extends string> = Exclude<Extract<ProcedureName, `${Prefix}.${string}`>, RestoreName>

/** Procedures that restore from the trash, which are implemented together. */
export type RestoreName = `${'rooms' | 'devices' | 'credentials' | 'nodes' | 'wall'}.restore`
