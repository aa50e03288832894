import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { Role } from '../../shared/console/roles.ts'

/** Where a call came from: for the log, and for procedures that answer differently to a script. */
export interface CallOrigin {
  transport: 'ipc' | 'websocket' | 'rpc' | 'internal'
  /** Client address; empty for IPC. */
  client: string
  /** What its caller may do. */
  role: Role
  /** Name of the account that called; left out for the console key and the desktop. */
  account?: string
}

/** The code of one procedure. @throws ConsoleError or ApiError to refuse */
export type Handler<N extends ProcedureName> = (
  input: ProcedureParsed<N>,
  origin: CallOrigin,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

/** The code of some procedures, by name. */
export type Handlers<N extends ProcedureName = ProcedureName> = { [K in N]: Handler<K> }

/** The procedures whose names begin with one of these words. */
export type ProceduresOf<Prefix extends string> = Extract<ProcedureName, `${Prefix}.${string}`>
