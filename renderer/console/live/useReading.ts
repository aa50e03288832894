import { type MaybeRefOrGetter, onScopeDispose, ref, type Ref, shallowRef, type ShallowRef, toValue, watch } from 'vue'
import type { EventPayload, ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { EventName } from '../../../shared/console/event-names.ts'
import { useConsole } from '../composables/useConsole.ts'
import { usePolling } from './usePolling.ts'
import { useRefresh } from './useRefresh.ts'

/** Output of a procedure, kept up to date. The value stays during further reads and while the connection is lost. */
export interface Reading<T> {
  /** Latest output; undefined: none yet, or nothing to read. */
  value: ShallowRef<T | undefined>
  /** Error of the latest call; null: it succeeded. */
  error: Ref<unknown>
  loading: Ref<boolean>
  /** Reads again. Resolves when `value` or `error` is from this call or a later one. */
  refresh(): Promise<void>
}

/** Functions that return the value after an event; undefined: it must be read again. */
type Updates<T> = { [N in EventName]?: (value: T, payload: EventPayload<N>) => T | undefined }

export interface ReadingOptions<N extends ProcedureName, T> {
  /** Minimum interval between two calls that events cause, in milliseconds; default: 250. */
  throttleMs?: number
  /** Interval of further calls while the page is visible, in milliseconds; default: none. */
  everyMs?: MaybeRefOrGetter<number>
  /** Events that contain the new value; they must be in the procedure's `refreshOn`. */
  updates?: Updates<T>
  /** Keeps the value of the previous input until the new one is read. */
  keepPrevious?: boolean
  /** Replaces the call of the procedure. @param before present value */
  read?: (input: ProcedureInput<N>, before: T | undefined) => Promise<T>
}

type ReadingInput<N extends ProcedureName> = MaybeRefOrGetter<ProcedureInput<N> | undefined>
type OptionalArguments<N extends ProcedureName, O> = [input?: ReadingInput<N>, options?: O]
/** The input is optional if the procedure needs none. */
type ReadingArguments<N extends ProcedureName, O> =
  undefined extends ProcedureInput<N>
    ? OptionalArguments<N, O>
    : object extends ProcedureInput<N>
      ? OptionalArguments<N, O>
      : [input: ReadingInput<N>, options?: O]

/**
 * Calls a procedure immediately, whenever its input changes, after the events in its `refreshOn`, and after each
 * reconnection, until the scope ends. An output that arrives after that of a later call is ignored.
 * @param input undefined: nothing is read
 */
export function useReading<N extends ProcedureName, T = ProcedureOutput<N>>(
  name: N,
  ...[input, options = {}]: ReadingArguments<N, ReadingOptions<N, T>>
): Reading<T> {
  const client = useConsole()
  const { updates, keepPrevious = false, everyMs } = options
  // Without `read`, T is the output of the procedure. The casts are needed because the client's parameters depend on N.
  const read =
    options.read ??
    ((asked: ProcedureInput<N>) =>
      client.call(...([name, asked] as unknown as Parameters<typeof client.call<N>>)) as Promise<T>)
  const value = shallowRef<T>()
  const error = ref<unknown>(null)
  const loading = ref(false)
  /**
   * Updates that arrived during the call. Its output may be older or newer than them; if it is newer, another event
   * follows.
   */
  let missed: ((before: T) => T | undefined)[] = []
  let isStale = false
  let latest: Promise<void> = Promise.resolve()
  let generation = 0

  const inputOf = (): ProcedureInput<N> | undefined =>
    input === undefined ? ({} as ProcedureInput<N>) : toValue(input)

  async function run(mine: number): Promise<void> {
    const asked = inputOf()
    missed = []
    isStale = false
    if (asked === undefined) {
      loading.value = false
      return
    }
    loading.value = true
    try {
      const output = await read(asked, value.value)
      if (mine !== generation) return await latest
      value.value = withMissed(output)
      error.value = null
    } catch (reason) {
      if (mine !== generation) return await latest
      error.value = reason
    }
    loading.value = false
    if (isStale) void refresh()
  }

  function withMissed(output: T): T {
    let after = output
    for (const update of missed) {
      const next = update(after)
      if (next === undefined) isStale = true
      else after = next
    }
    return after
  }

  function refresh(): Promise<void> {
    latest = run(++generation)
    return latest
  }

  function update<E extends EventName>(event: E, payload: EventPayload<E>): boolean {
    const change = updates?.[event]
    if (change === undefined) return false
    const next = (before: T): T | undefined => change(before, payload)
    if (loading.value) missed.push(next)
    if (value.value === undefined) return loading.value
    const after = next(value.value)
    if (after === undefined) return false
    value.value = after
    return true
  }

  watch(
    () => JSON.stringify(inputOf()),
    () => {
      if (!keepPrevious || inputOf() === undefined) value.value = undefined
      error.value = null
      void refresh()
    },
    { immediate: true },
  )
  useRefresh(name, refresh, { throttleMs: options.throttleMs, input: inputOf, handle: update })
  if (everyMs !== undefined) usePolling(() => loading.value || void refresh(), everyMs)
  onScopeDispose(() => {
    generation++
    latest = Promise.resolve()
  })
  return { value, error, loading, refresh }
}
