import { ref, type Ref } from 'vue'
import type { EventPayload, ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { EventName } from '../../../shared/console/event-names.ts'
import {
  CallError,
  type ConnectionState,
  listeners,
  neededSecret,
  type NeededSecret,
  type Transport,
} from './transport.ts'

/** Typed access to the controller: calls, events, and the state of the connection. */
export interface ConsoleClient {
  kind: Transport['kind']
  connection: Readonly<Ref<ConnectionState>>
  /** Resolves to the procedure's value. Rejects with a CallError. */
  call<N extends ProcedureName>(name: N, ...input: CallInput<N>): Promise<ProcedureOutput<N>>
  on<N extends EventName>(name: N, listener: (payload: EventPayload<N>) => void): () => void
  /**
   * Registers the dialog for the user's own password or the console key. A call refused for lack of it is repeated once
   * if `ask` resolves to true.
   * @returns a function that unregisters it
   */
  onSecretNeeded(ask: (secret: NeededSecret) => Promise<boolean>): () => void
  /** Called after each reconnection: displayed data may be stale. */
  onReconnect(listener: () => void): () => void
  /** Connects, or connects again after signing in. */
  open(): void
}

type CallInput<N extends ProcedureName> =
  undefined extends ProcedureInput<N> ? [input?: ProcedureInput<N>] : [input: ProcedureInput<N>]

/** Adds types to a transport. */
export function consoleClient(transport: Transport): ConsoleClient {
  const connection = ref(transport.state())
  const reconnected = listeners<void>()
  let wasOnline = connection.value === 'online'
  transport.onState((state) => {
    connection.value = state
    if (state !== 'online') return
    if (wasOnline) reconnected.tell()
    wasOnline = true
  })
  let askSecret: ((secret: NeededSecret) => Promise<boolean>) | undefined
  const byName = new Map<string, ReturnType<typeof listeners<never>>>()
  transport.onEvent((event) => byName.get(event.name)?.tell(event.payload as never))

  return {
    kind: transport.kind,
    connection,
    async call<N extends ProcedureName>(name: N, ...[input]: CallInput<N>) {
      let result = await transport.call(name, input ?? {})
      const needed = result.ok ? undefined : neededSecret(result.error.name)
      if (needed !== undefined && (await askSecret?.(needed)) === true) result = await transport.call(name, input ?? {})
      // The controller has validated its answer against the contract's schema.
      if (result.ok) return result.value as ProcedureOutput<N>
      throw new CallError(result.error.code, result.error.message, result.error.problems, result.error)
    },
    on(name, listener) {
      const ofEvent = byName.get(name) ?? listeners<never>()
      byName.set(name, ofEvent)
      return ofEvent.add(listener)
    },
    onSecretNeeded(ask) {
      askSecret = ask
      return () => {
        if (askSecret === ask) askSecret = undefined
      }
    },
    onReconnect: reconnected.add,
    open: () => transport.open(),
  }
}
