import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { Caller } from './callers.ts'

/** Origin and caller of a call: for the log, and for procedures that answer by caller. A call over the network says how its caller showed who they are. */
export type CallOrigin = {
  /** Client address; empty for IPC. */
  client: string
} & (({ transport: 'websocket' | 'rpc' } & Caller) | ({ transport: 'ipc' | 'internal' } & LocalCaller))

/** The desktop's own window, or this program. */
type LocalCaller = Omit<Caller, 'way'> & { way?: undefined }

/** The code of one procedure. @throws ConsoleError or ApiError to refuse */
export type Handler<N extends ProcedureName> = (
  input: ProcedureParsed<N>,
  origin: CallOrigin,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

/** The code of some procedures, by name. */
export type Handlers<N extends ProcedureName = ProcedureName> = { [K in N]: Handler<K> }

/** The procedures whose names begin with one of these words. */
export type ProceduresOf<Prefix extends string> = Exclude<Extract<ProcedureName, `${Prefix}.${string}`>, RestoreName>

/** Procedures that restore from the trash, which are implemented together. */
export type RestoreName = `${'rooms' | 'devices' | 'credentials' | 'nodes' | 'wall'}.restore`
