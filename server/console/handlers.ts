import type { ProcedureName, ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { Role } from '../../shared/console/role-names.ts'
import type { TokenScope } from '../../shared/console/token-scopes.ts'

/** Origin and caller of a call: for the log, and for procedures that answer by caller. */
export interface CallOrigin {
  transport: 'ipc' | 'websocket' | 'rpc' | 'internal'
  /** Client address; empty for IPC. */
  client: string
  /** Role of the caller. */
  role: Role
  /** How the caller showed who they are; left out for IPC and internal calls. */
  way?: 'key' | 'password' | 'token'
  /** Name of the account that called; left out for the console key and the desktop. */
  account?: string
  accountId?: string
  /** Id of the account's session. */
  session?: string
  /** Label of the access token. */
  token?: string
  tokenId?: string
  /** Scopes of the access token; left out for all other callers. */
  scopes?: readonly TokenScope[]
  /** At a replica: headers by which the leader sees for itself who calls. */
  forLeader?: () => Record<string, string>
}

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
