import { onScopeDispose } from 'vue'
import type { EventPayload, ProcedureName } from '../../../shared/console/contract.ts'
import type { EventName } from '../../../shared/console/event-names.ts'
import { eventObjects } from '../../../shared/console/event-objects.ts'
import { procedureFacts } from '../../../shared/console/procedure-facts.ts'
import { useConsole } from '../composables/useConsole.ts'
import { useThrottled } from './useThrottled.ts'

/** Minimum interval between two refreshes that events cause, in milliseconds. */
const defaultThrottleMs = 250

/** Options of a refresh: limits of the events that cause it. */
export interface RefreshOptions {
  /** Minimum interval between two refreshes that events cause, in milliseconds; default: 250. */
  throttleMs?: number | undefined
  /**
   * Returns the input of the procedure. An event that names an object causes a refresh only if the input names the same
   * object.
   */
  input?: () => unknown
  /** Handles an event without a refresh; returns true if it did. */
  handle?: <N extends EventName>(name: N, payload: EventPayload<N>) => boolean
}

/**
 * Refreshes after the events in the procedure's `refreshOn`, and after each reconnection, until the scope ends. A
 * refresh starts only after the previous one has ended: otherwise frequent events would discard every answer.
 * @param refresh must not reject
 */
export function useRefresh(
  procedure: ProcedureName,
  refresh: () => Promise<void>,
  { throttleMs = defaultThrottleMs, input, handle }: RefreshOptions = {},
): void {
  const client = useConsole()
  let isRunning = false
  let isWanted = false

  async function run(): Promise<void> {
    isWanted = isRunning
    if (isRunning) return
    isRunning = true
    await refresh()
    isRunning = false
    if (isWanted) void run()
  }

  const soon = useThrottled(() => void run(), throttleMs)
  for (const name of procedureFacts[procedure].refreshOn ?? []) {
    const stop = client.on(name, (payload) => {
      if (handle?.(name, payload) === true) return
      if (concerns(name, payload, input?.())) soon()
    })
    onScopeDispose(stop)
  }
  onScopeDispose(client.onReconnect(() => void run()))
  onScopeDispose(() => (isWanted = false))
}

/** Returns whether an event may change the output for an input. */
function concerns<N extends EventName>(name: N, payload: EventPayload<N>, input: unknown): boolean {
  const listed = eventObjects[name]
  if (listed === undefined || typeof input !== 'object' || input === null) return true
  const id: unknown = Reflect.get(input, listed.input)
  return typeof id !== 'string' || (listed.ids(payload)?.includes(id) ?? true)
}
