import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'

/** Where a call came from: for the log, and for procedures that answer differently to a script. */
export interface CallOrigin {
  transport: 'ipc' | 'websocket' | 'rpc' | 'internal'
  /** Client address; empty for IPC. */
  client: string
  /** Whose it is; left out where there are no accounts. */
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
