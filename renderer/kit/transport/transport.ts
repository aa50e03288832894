import type { ConsoleEvent } from '../../../shared/console/contract.ts'
import type { EditConflict } from '../../../shared/domain/edit-conflict.ts'
import type { ConsoleResult, FieldProblem } from '../../../shared/domain/outcome.ts'
import type { ConsoleErrorCode, Values } from '../../../shared/refusals/template.ts'

/**
 * `connecting`: not connected yet; `online`; `lost`: reconnects; `crowded`: too many consoles are open, retries slowly;
 * `signed_out`: a sign-in is needed.
 * The desktop's bridge is always online.
 */
export type ConnectionState = 'connecting' | 'online' | 'lost' | 'crowded' | 'signed_out'

/** Connection of the page to the controller. Thin: names, inputs and results pass unchanged. */
export interface Transport {
  kind: 'ipc' | 'websocket'
  /** Rejects with a CallError if there is no answer. A refusal of the procedure is a value. */
  call(name: string, input: unknown): Promise<ConsoleResult<unknown>>
  onEvent(listener: (event: ConsoleEvent) => void): () => void
  state(): ConnectionState
  onState(listener: (state: ConnectionState) => void): () => void
  /** Starts connecting; also after signing in. */
  open(): void
  close(): void
}

/** Codes of a failed call: the procedure's own, or `timeout` and `offline` without an answer. */
export type CallErrorCode = ConsoleErrorCode | 'timeout' | 'offline'

/** Secret that a call requires again, by the reason of its refusal. */
const neededSecrets: Readonly<Record<string, NeededSecret>> = { passwordNeeded: 'password', keyNeeded: 'key' }
export type NeededSecret = 'password' | 'key'

/**
 * Secret that a refused call needs: the user's own password or the console key, entered recently; undefined for other
 * refusals.
 */
export function neededSecret(reason: string | undefined): NeededSecret | undefined {
  return reason === undefined ? undefined : neededSecrets[reason]
}

/** A failed call. */
export class CallError extends Error {
  readonly code: CallErrorCode
  readonly problems: readonly FieldProblem[]
  /** Reason of the refusal, if the controller gave one. */
  readonly refusal: string
  readonly values: Values
  /** Fields of an edit that others changed meanwhile. */
  readonly conflict: EditConflict | undefined
  constructor(
    code: CallErrorCode,
    message: string,
    problems: readonly FieldProblem[] = [],
    { name = '', values = {}, conflict }: { name?: string; values?: Values; conflict?: EditConflict | undefined } = {},
  ) {
    super(message)
    this.name = 'CallError'
    this.code = code
    this.problems = problems
    this.refusal = name
    this.values = values
    this.conflict = conflict
  }
}

/** Returns whether a value is a `ConsoleResult`: validates input from outside. */
export function isResult(value: unknown): value is ConsoleResult<unknown> {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false
  if (value.ok === true) return 'value' in value
  return value.ok === false && 'error' in value && typeof value.error === 'object' && value.error !== null
}

/** Copies plain values only: reactive wrappers cannot cross a bridge, and undefined is dropped as in JSON. */
export function plain(input: unknown): unknown {
  return input === undefined ? undefined : JSON.parse(JSON.stringify(input))
}

/** Listeners of one event. */
export function listeners<T>() {
  const all = new Set<(value: T) => void>()
  return {
    add(listener: (value: T) => void): () => void {
      all.add(listener)
      return () => all.delete(listener)
    },
    tell(value: T): void {
      for (const listener of [...all]) listener(value)
    },
  }
}
