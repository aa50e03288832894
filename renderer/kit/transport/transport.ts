import type { ConsoleEvent } from '../../../shared/console/contract.ts'
import type {
  ConsoleErrorCode,
  ConsoleResult,
  FieldProblem,
  RefusalName,
  RefusalValues,
} from '../../../shared/console/procedure.ts'

/**
 * `connecting`: not there yet; `online`; `lost`: it was there and will be tried again; `crowded`: too many consoles are open, it is tried again slowly; `signed_out`: the console key is needed.
 * The desktop's bridge is always online.
 */
export type ConnectionState = 'connecting' | 'online' | 'lost' | 'crowded' | 'signed_out'

/** How the page reaches the controller. Thin: names, inputs and results pass through as they are. */
export interface Transport {
  kind: 'ipc' | 'websocket'
  /** Rejects with a CallError when there was no answer; a refusal of the procedure is a value. */
  call(name: string, input: unknown): Promise<ConsoleResult<unknown>>
  onEvent(listener: (event: ConsoleEvent) => void): () => void
  state(): ConnectionState
  onState(listener: (state: ConnectionState) => void): () => void
  /** Starts connecting; again after signing in. */
  open(): void
  close(): void
}

/** Codes of a call that failed: the procedure's own, or `timeout` and `offline` when no answer came. */
export type CallErrorCode = ConsoleErrorCode | 'timeout' | 'offline'

/** Name of the refusal of a call that needs the own password, given lately. */
export const passwordNeeded = 'passwordNeeded'

/** A call that did not succeed. */
export class CallError extends Error {
  readonly code: CallErrorCode
  readonly problems: readonly FieldProblem[]
  /** Name of the refusal, where the controller gave one. */
  readonly refusal: string
  readonly values: RefusalValues
  constructor(
    code: CallErrorCode,
    message: string,
    problems: readonly FieldProblem[] = [],
    { name = '', values = {} }: Partial<RefusalName> = {},
  ) {
    super(message)
    this.name = 'CallError'
    this.code = code
    this.problems = problems
    this.refusal = name
    this.values = values
  }
}

/** Is this text or object a `ConsoleResult`? What comes from outside is looked at before it is believed. */
export function isResult(value: unknown): value is ConsoleResult<unknown> {
  if (typeof value !== 'object' || value === null || !('ok' in value)) return false
  if (value.ok === true) return 'value' in value
  return value.ok === false && 'error' in value && typeof value.error === 'object' && value.error !== null
}

/** A copy that holds plain values only: reactive wrappers do not cross a bridge, and undefined is left out as in JSON. */
export function plain(input: unknown): unknown {
  return input === undefined ? undefined : JSON.parse(JSON.stringify(input))
}

/** Listeners of one kind of thing. */
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
