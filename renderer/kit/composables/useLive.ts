import { getCurrentScope, onScopeDispose, ref, shallowRef } from 'vue'
import type { Ref, ShallowRef } from 'vue'
import type { ConsoleClient } from '../transport/client.ts'

/** A value read from the controller: kept while it is read again, so that nothing flickers. */
export interface Live<T> {
  /** The latest value; undefined before the first. */
  value: ShallowRef<T | undefined>
  /** Error of the last reading; null: none. */
  error: Ref<unknown>
  loading: Ref<boolean>
  /** Reads again. Resolves when done or failed; of two concurrent readings the older one is dropped. */
  refresh(): Promise<void>
}

/** Reads now, and after every reconnection. */
export function useLive<T>(client: ConsoleClient, read: () => Promise<T>, options: { now?: boolean } = {}): Live<T> {
  const value = shallowRef<T>()
  const error = ref<unknown>(null)
  const loading = ref(false)
  let generation = 0

  async function refresh(): Promise<void> {
    const mine = ++generation
    loading.value = true
    try {
      const answer = await read()
      if (mine !== generation) return
      value.value = answer
      error.value = null
    } catch (reason) {
      if (mine === generation) error.value = reason
    } finally {
      if (mine === generation) loading.value = false
    }
  }

  const stop = client.onReconnect(() => void refresh())
  if (getCurrentScope()) onScopeDispose(stop)
  if (options.now ?? true) void refresh()
  return { value, error, loading, refresh }
}

/** Limits a function to one run per `milliseconds`, at the end of the time. */
export function collected(run: () => void, milliseconds: number): () => void {
  let timer = 0
  return () => {
    if (timer) return
    timer = window.setTimeout(() => {
      timer = 0
      run()
    }, milliseconds)
  }
}
